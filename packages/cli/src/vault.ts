import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addVaultRotate } from "./vault/rotate.ts";
import { addVaultStatus } from "./vault/status.ts";

/** Adds `svc vault rotate|status`. */
export function addVaultCommand(program: Command, context: CommandContext): void {
  const vault = program.command("vault").description("rotate the vault key, as the administrator");
  addExamples(vault, ["svc vault rotate --watch", "svc vault status"]);
  addVaultRotate(vault, context);
  addVaultStatus(vault, context);
}
