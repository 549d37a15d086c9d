import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addQuarantineList } from "./quarantine/list.ts";
import { addQuarantineRelease } from "./quarantine/release.ts";
import { addQuarantineShow } from "./quarantine/show.ts";

/** Adds `svc quarantine list|show|release`. */
export function addQuarantineCommand(program: Command, context: CommandContext): void {
  const quarantine = program
    .command("quarantine")
    .description("list, show and release verified posts that became no event, as the administrator");
  addExamples(quarantine, ["svc quarantine", "svc quarantine release --toolkit calendar --dry-run"]);
  addQuarantineList(quarantine, context);
  addQuarantineShow(quarantine, context);
  addQuarantineRelease(quarantine, context);
}
