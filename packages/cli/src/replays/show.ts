import type { Command } from "commander";
import type { CommandContext } from "../command/context.ts";
import { addReplayAct } from "./act.ts";

/** Adds `svc replays show`. */
export function addReplayShow(replays: Command, context: CommandContext): void {
  const show = replays.command("show").description("show a replay: how far it is, what it waits for, what it delivers");
  addReplayAct(show, context, ({ triggers }, id) => triggers.getReplay({ id }));
}
