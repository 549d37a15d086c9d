import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addKeyCreate } from "./keys/create.ts";
import { addKeyList } from "./keys/list.ts";
import { addKeyRevoke } from "./keys/revoke.ts";

/** Adds `svc keys create|list|revoke`. */
export function addKeysCommand(program: Command, context: CommandContext): void {
  const keys = program.command("keys").description("issue, list and revoke API keys, as the administrator");
  addExamples(keys, [
    "svc keys create --project billing --name deploy",
    "svc keys revoke key_01h455vb4pex5vsknk084sn02q",
  ]);
  addKeyCreate(keys, context);
  addKeyList(keys, context);
  addKeyRevoke(keys, context);
}
