import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addConsoleEnd } from "./console/end.ts";
import { addConsoleOpen } from "./console/open.ts";
import { addConsoleSessions } from "./console/sessions.ts";

/** Adds `svc console open|sessions|end`. */
export function addConsoleCommand(program: Command, context: CommandContext): void {
  const group = program
    .command("console")
    .description("open the console in a browser, signed in; list and end its sessions");
  addExamples(group, ["svc console", "svc console --print", "svc console sessions"]);
  addConsoleOpen(group, context);
  addConsoleSessions(group, context);
  addConsoleEnd(group, context);
}
