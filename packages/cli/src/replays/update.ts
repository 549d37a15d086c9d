import type { Command } from "commander";
import type { CommandContext } from "../command/context.ts";
import { addReplayAct } from "./act.ts";
import { parsePace } from "./rate.ts";

/** Adds `svc replays update`. */
export function addReplayUpdate(replays: Command, context: CommandContext): void {
  const update = replays
    .command("update")
    .description("change the pace of a replay, from its next step")
    .requiredOption("--rate <pace>", "deliveries a second, such as 50/s", parsePace);
  addReplayAct<{ rate: number }>(
    update,
    context,
    ({ triggers }, id, { rate: perSecond }) => triggers.updateReplay({ id, perSecond }),
    "--rate 200/s",
  );
}
