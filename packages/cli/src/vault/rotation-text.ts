import { type VaultRotation, VaultRotationSchema } from "@svc/gen/admin";
import type { CommandContext } from "../command/context.ts";
import type { JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { timeText } from "../text/table.ts";

/** Prints a rotation, or that there was none. */
export function printRotation(
  rotation: VaultRotation | undefined,
  { json }: JsonOption,
  { print }: Pick<CommandContext, "print">,
): void {
  if (rotation === undefined) print(json ? "null" : "the vault key was never rotated");
  else print(json ? messageText(VaultRotationSchema, rotation) : rotationLine(rotation));
}

/** Where a rotation stands, in one line. */
export function rotationLine(rotation: VaultRotation): string {
  const { state, toKeyId, fromKeyIds, resealed, finishedAt, problem } = rotation;
  const values = `${resealed} ${resealed === 1 ? "value" : "values"} sealed anew`;
  const told = problem === "" ? "" : `; ${plainText(problem)}`;
  if (state === "done")
    return `done ${timeText(finishedAt)}: ${values}, ${fromKeyIds.join(", ")} refused, ${toKeyId} in use${told}`;
  return `${state}: ${values}${progressText(rotation)}${told}`;
}

function progressText({ state, pass, seen, total }: VaultRotation): string {
  if (state !== "resealing") return "";
  return `, pass ${pass}, ${seen} of about ${Math.max(total, seen)} rows looked at`;
}
