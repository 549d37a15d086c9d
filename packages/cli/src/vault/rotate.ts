import { setTimeout as wait } from "node:timers/promises";
import type { VaultRotation } from "@svc/gen/admin";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { printRotation, rotationLine } from "./rotation-text.ts";

type RotateOptions = AdminOptions & JsonOption & { watch?: true };

const everyMs = 1_000;

/** Adds `svc vault rotate`. */
export function addVaultRotate(vault: Command, context: CommandContext): void {
  const rotate = vault
    .command("rotate")
    .description("replace the vault key: every sealed value is sealed anew in the background")
    .option("--watch", "wait until it is done, and tell how far it is")
    .action((options: RotateOptions) => rotateVault(options, context));
  addExamples(addAdminOptions(addJson(rotate, "the rotation as JSON")), [
    "svc vault rotate",
    "svc vault rotate --watch",
  ]);
}

async function rotateVault(options: RotateOptions, context: CommandContext): Promise<void> {
  const { admin } = openAdminClient(options, context);
  let { rotation } = await admin.rotateVault({});
  let told = "";
  const tell = (now: VaultRotation) => {
    const line = rotationLine(now);
    if (line !== told) context.note(line);
    told = line;
  };
  while (options.watch === true && rotation !== undefined && rotation.state !== "done") {
    tell(rotation);
    await wait(everyMs);
    ({ rotation } = await admin.getVaultRotation({}));
  }
  printRotation(rotation, options, context);
}
