import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addLimitDelete } from "./limits/delete.ts";
import { addLimitList } from "./limits/list.ts";
import { addLimitPut } from "./limits/put.ts";

/** Adds `svc limits list|put|delete`. */
export function addLimitsCommand(program: Command, context: CommandContext): void {
  const limits = program.command("limits").description("list, put and delete what the project holds its calls to");
  addExamples(limits, ["svc limits", "svc limits put calendar --toolkit calendar --key accountId --rate 10/1s"]);
  addLimitList(limits, context);
  addLimitPut(limits, context);
  addLimitDelete(limits, context);
}
