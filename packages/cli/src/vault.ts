import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addVaultDelete } from "./vault/delete.ts";
import { addVaultList } from "./vault/list.ts";
import { addVaultPut } from "./vault/put.ts";
import { addVaultRotate } from "./vault/rotate.ts";
import { addVaultStatus } from "./vault/status.ts";

/** Adds `svc vault rotate|status|put|delete|list`. */
export function addVaultCommand(program: Command, context: CommandContext): void {
  const vault = program
    .command("vault")
    .description("rotate the vault key and keep secrets of the deployment itself, as the administrator");
  addExamples(vault, [
    "svc vault rotate --watch",
    "svc vault status",
    "svc vault put embeddings_key --secret-stdin < token",
  ]);
  addVaultRotate(vault, context);
  addVaultStatus(vault, context);
  addVaultPut(vault, context);
  addVaultDelete(vault, context);
  addVaultList(vault, context);
}
