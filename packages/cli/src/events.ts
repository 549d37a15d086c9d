import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addEventList } from "./events/list.ts";
import { addEventReplay } from "./events/replay.ts";
import { addEventShow } from "./events/show.ts";

/** Adds `svc events list|show|replay`. */
export function addEventsCommand(program: Command, context: CommandContext): void {
  const events = program
    .command("events")
    .description("list the project's events, show one with its payload, and deliver those of a time again");
  addExamples(events, ["svc events", "svc events --trigger calendar.events_changed --limit 100"]);
  addEventList(events, context);
  addEventShow(events, context);
  addEventReplay(events, context);
}
