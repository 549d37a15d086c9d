import { ReplaySchema, StartReplayResponseSchema, TriggersService } from "@svc/gen/triggers";
import type { ProjectOptions } from "../../command/client.ts";
import { command, type Run } from "../../command/declared.ts";
import type { JsonOption } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { numberText } from "../../text/plain.ts";
import { tableLines } from "../../text/table.ts";
import { type RangeOptions, rangeOptions, rangeRequest, rateOption } from "./range.ts";
import { progressText } from "./text.ts";
import { watchNotes, watchReplay } from "./watch-replay.ts";

type ReplayOptions = ProjectOptions & JsonOption & RangeOptions & { rate?: number; watch?: true };

/** Adds `svc events replay`. */
export const addEventReplay = command(
  TriggersService.method.startReplay,
  {
    says: "deliver the events of a time again, at a pace, to the subscriptions that match them",
    options: [...rangeOptions, rateOption, ["--watch", "show its progress to the end"]],
    more: watchNotes,
    examples: [
      "svc events replay --since 2d --rate 50/s --watch",
      "svc events replay --since 2d --only-undelivered --dry-run",
      "svc events replay --since 2026-03-14T09:00:00Z --subscription sub_01h455vb4pex5vsknk084sn02q --rate 500/s",
    ],
  },
  async ({ values: options, context, project, asJson }: Run<ReplayOptions>) => {
    const request = { ...rangeRequest(options, "--since"), perSecond: options.rate ?? 0 };
    const client = await project();
    const started = await client.triggers.startReplay(request);
    const { replay, total, counts } = started;
    for (const warning of started.warnings) context.note(`warning: ${warning}`);
    if (replay === undefined) {
      if (asJson) return context.print(messageText(StartReplayResponseSchema, started));
      context.print(`${numberText(total)} ${total === 1 ? "delivery" : "deliveries"} would be queued`);
      const rows = counts.map(({ subscriptionId, count }) => [subscriptionId, numberText(count)]);
      if (rows.length > 0) for (const line of tableLines(["SUBSCRIPTION", "DELIVERIES"], rows)) context.print(line);
      return;
    }
    if (options.watch) {
      context.note(replay.id);
      return watchReplay(client, replay.id, { options, context });
    }
    context.print(asJson ? messageText(ReplaySchema, replay) : replay.id);
    context.note(
      `The replay has begun: ${progressText(replay)}. \`svc replays watch ${replay.id}\` shows how far it is.`,
    );
  },
);
