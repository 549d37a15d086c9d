import type { Command } from "commander";
import { addAgentKeyCreate } from "./agent-keys/create.ts";
import { addAgentKeyList } from "./agent-keys/list.ts";
import { addAgentKeyRevoke } from "./agent-keys/revoke.ts";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";

/** Adds `svc agent-keys create|list|revoke`. */
export function addAgentKeysCommand(program: Command, context: CommandContext): void {
  const keys = program
    .command("agent-keys")
    .description("make, list and revoke short-lived keys for agents, with an approver's key");
  addExamples(keys, [
    "svc agent-keys create --entity ada",
    "svc agent-keys",
    "svc agent-keys revoke key_01h455vb4pex5vsknk084sn02q",
  ]);
  addAgentKeyCreate(keys, context);
  addAgentKeyList(keys, context);
  addAgentKeyRevoke(keys, context);
}
