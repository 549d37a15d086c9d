import type { Command } from "commander";
import { addAskLink } from "./asks/link.ts";
import { addAskList } from "./asks/list.ts";
import { addAskShow } from "./asks/show.ts";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";

/** Adds `svc asks list|show|link`. */
export function addAsksCommand(program: Command, context: CommandContext): void {
  const asks = program
    .command("asks")
    .description("list and show the questions that jobs put to people, and make links that answer them");
  addExamples(asks, ["svc asks", "svc asks list --principal lead --state all"]);
  addAskList(asks, context);
  addAskShow(asks, context);
  addAskLink(asks, context);
}
