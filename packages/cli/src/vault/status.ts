import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { printRotation } from "./rotation-text.ts";

/** Adds `svc vault status`. */
export function addVaultStatus(vault: Command, context: CommandContext): void {
  const status = vault
    .command("status", { isDefault: true })
    .description("tell how far the last rotation of the vault key is")
    .action(async (options: AdminOptions & JsonOption) => {
      const { rotation } = await openAdminClient(options, context).admin.getVaultRotation({});
      printRotation(rotation, options, context);
    });
  addExamples(addAdminOptions(addJson(status, "the rotation as JSON")), ["svc vault status"]);
}
