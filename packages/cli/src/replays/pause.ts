import type { Command } from "commander";
import type { CommandContext } from "../command/context.ts";
import { addReplayAct } from "./act.ts";

/** Adds `svc replays pause`. */
export function addReplayPause(replays: Command, context: CommandContext): void {
  const pause = replays.command("pause").description("pause a replay; what was queued is still delivered");
  addReplayAct(pause, context, ({ triggers }, id) => triggers.updateReplay({ id, paused: true }));
}
