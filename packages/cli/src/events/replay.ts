import { ReplaySchema, StartReplayResponseSchema } from "@svc/gen/triggers";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { addRangeOptions, type RangeOptions, rangeRequest } from "../replays/range.ts";
import { addRateOption } from "../replays/rate.ts";
import { progressText } from "../replays/text.ts";
import { watchNotes, watchReplay } from "../replays/watch-replay.ts";
import { messageText } from "../text/message.ts";
import { numberText } from "../text/plain.ts";
import { tableLines } from "../text/table.ts";

type ReplayOptions = ProjectOptions & JsonOption & RangeOptions & { rate?: number; watch?: true };

/** Adds `svc events replay`. */
export function addEventReplay(events: Command, context: CommandContext): void {
  const replay = addRateOption(addRangeOptions(events.command("replay")))
    .description("deliver the events of a time again, at a pace, to the subscriptions that match them")
    .option("--watch", "show its progress to the end")
    .action((options: ReplayOptions) => startReplay(options, context));
  addProjectOptions(addJson(replay)).addHelpText("after", watchNotes);
  addExamples(replay, [
    "svc events replay --since 2d --rate 50/s --watch",
    "svc events replay --since 2d --only-undelivered --dry-run",
    "svc events replay --since 2026-03-14T09:00:00Z --subscription sub_01h455vb4pex5vsknk084sn02q --rate 500/s",
  ]);
}

async function startReplay(options: ReplayOptions, context: CommandContext): Promise<void> {
  const request = { ...rangeRequest(options, "--since"), perSecond: options.rate ?? 0 };
  const client = await openProjectClient(options, context);
  const started = await client.triggers.startReplay(request);
  const { replay, total, counts } = started;
  for (const warning of started.warnings) context.note(`warning: ${warning}`);
  if (replay === undefined) {
    if (options.json) return context.print(messageText(StartReplayResponseSchema, started));
    context.print(`${numberText(total)} ${total === 1 ? "delivery" : "deliveries"} would be queued`);
    const rows = counts.map(({ subscriptionId, count }) => [subscriptionId, numberText(count)]);
    if (rows.length > 0) for (const line of tableLines(["SUBSCRIPTION", "DELIVERIES"], rows)) context.print(line);
    return;
  }
  if (options.watch) {
    context.note(replay.id);
    return watchReplay(client, replay.id, { options, context });
  }
  context.print(options.json ? messageText(ReplaySchema, replay) : replay.id);
  context.note(
    `The replay has begun: ${progressText(replay)}. \`svc replays watch ${replay.id}\` shows how far it is.`,
  );
}
