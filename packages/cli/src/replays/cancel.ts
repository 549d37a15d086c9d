import type { Command } from "commander";
import type { CommandContext } from "../command/context.ts";
import { addReplayAct } from "./act.ts";

/** Adds `svc replays cancel`. */
export function addReplayCancel(replays: Command, context: CommandContext): void {
  const cancel = replays.command("cancel").description("end a replay; what was queued is still delivered");
  addReplayAct(cancel, context, ({ triggers }, id) => triggers.cancelReplay({ id }));
}
