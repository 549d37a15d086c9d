import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addToolCallList } from "./tool-calls/list.ts";
import { addToolCallShow } from "./tool-calls/show.ts";

/** Adds `svc tool-calls list|show`. */
export function addToolCallsCommand(program: Command, context: CommandContext): void {
  const calls = program.command("tool-calls").description("read the ledger of tool calls");
  addExamples(calls, ["svc tool-calls", "svc tool-calls list --outcome outcome_unknown"]);
  addToolCallList(calls, context);
  addToolCallShow(calls, context);
}
