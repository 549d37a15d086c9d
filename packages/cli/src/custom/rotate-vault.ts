import { setTimeout as wait } from "node:timers/promises";
import { AdminService, type VaultRotation, VaultRotationSchema } from "@svc/gen/admin";
import type { AdminOptions } from "../command/client.ts";
import type { CommandContext } from "../command/context.ts";
import { command, type Run } from "../command/declared.ts";
import type { JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { timeText } from "../text/table.ts";

type RotateOptions = AdminOptions & JsonOption & { watch?: true };

const everyMs = 1_000;

/** Adds `svc vault rotate`. */
export const addVaultRotate = command(
  AdminService.method.rotateVault,
  {
    says: "replace the vault key: every sealed value is sealed anew in the background",
    options: [["--watch", "wait until it is done, and tell how far it is"]],
    json: "the rotation as JSON",
    examples: ["svc vault rotate", "svc vault rotate --watch"],
  },
  async ({ values: options, context, admin }: Run<RotateOptions>) => {
    let { rotation } = await admin().admin.rotateVault({});
    let told = "";
    const tell = (now: VaultRotation) => {
      const line = rotationLine(now);
      if (line !== told) context.note(line);
      told = line;
    };
    while (options.watch === true && rotation !== undefined && rotation.state !== "done") {
      tell(rotation);
      await wait(everyMs);
      ({ rotation } = await admin().admin.getVaultRotation({}));
    }
    printRotation(rotation, options, context);
  },
);

/** Prints a rotation, or that there was none. */
export function printRotation(
  rotation: VaultRotation | undefined,
  { json }: JsonOption,
  { print }: Pick<CommandContext, "print">,
): void {
  if (rotation === undefined) print(json ? "null" : "the vault key was never rotated");
  else print(json ? messageText(VaultRotationSchema, rotation) : rotationLine(rotation));
}

/** The state of a rotation, in one line. */
function rotationLine(rotation: VaultRotation): string {
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
