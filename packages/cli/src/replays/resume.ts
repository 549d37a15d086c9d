import type { Command } from "commander";
import type { CommandContext } from "../command/context.ts";
import { addReplayAct } from "./act.ts";

/** Adds `svc replays resume`. */
export function addReplayResume(replays: Command, context: CommandContext): void {
  const resume = replays.command("resume").description("let a paused replay go on");
  addReplayAct(resume, context, ({ triggers }, id) => triggers.updateReplay({ id, paused: false }));
}
