import {
  ReplayEventResponseSchema,
  type ReplayEventsResponse,
  ReplayEventsResponseSchema,
  ReplaySchema,
  StartReplayResponseSchema,
  TriggersService,
} from "@svc/gen/triggers";
import { InvalidArgumentError } from "commander";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import type { JsonOption } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { numberText } from "../../text/plain.ts";
import { tableLines } from "../../text/table.ts";
import { deliveryTable } from "../../topics/deliveries.ts";
import { progressText, watchNotes, watchReplay } from "./watch.ts";

const perSecondMax = 5_000;

/** Returns a rate in deliveries per second. The text is such as `50/s`. Throws InvalidArgumentError for any other text. */
export function parsePace(text: string): number {
  const [, digits = ""] = /^(\d{1,4})(?:\/s)?$/.exec(text) ?? [];
  const perSecond = Number(digits);
  if (perSecond >= 1 && perSecond <= perSecondMax) return perSecond;
  throw new InvalidArgumentError(`expected deliveries per second, such as 50/s, up to ${perSecondMax}/s`);
}

/** The option `--rate`, which sets how many deliveries per second a replay makes. */
const rateOption = [
  "--rate <pace>",
  "deliveries per second, such as 50/s",
  { fills: "perSecond", parse: parsePace },
] as const;

/** The command line options that select which events a replay delivers again, for example by time and toolkit. */
const rangeOptions = [
  ["--since <when>", "events received at or after this time: 2h for two hours ago, or 2026-03-14T09:00:00Z"],
  ["--until <when>", "events received before this time (default: now)"],
  ["--toolkit <slug>", "only events of this toolkit", { fills: "toolkitSlug" }],
  ["--trigger <slug>", "only events of this trigger, such as calendar.events_changed", { fills: "triggerSlug" }],
  ["--subscription <id>", "only deliveries to this subscription, sub_…", { fills: "subscriptionId" }],
  ["--only-undelivered", "only events whose delivery failed, and events that were never sent, also old ones"],
  ["--dry-run", "count the deliveries without queueing any"],
] as const;

/** Throws CommandError if `--since` is not given. `hint`: what the user can do instead, for the error text. */
function requireRange({ since }: { readonly since?: number }, hint: string): void {
  if (since === undefined) throw new CommandError(`no events are selected: give ${hint}`, 2);
}

type ReplayValues = { readonly event?: string; readonly since?: number; readonly subscription?: string };

/** The command `svc replay`, which delivers one event, or the events of a period, again to the active subscriptions that match them now. */
export const addReplayCommand = command(
  TriggersService.method.replayEvents,
  {
    says: "deliver one event, or the events of a time, again to the active subscriptions that match them now",
    takes: { "[event]": "id of the event, evt_…; without it, the events that match the options" },
    words: "--since",
    also: [[TriggersService.method.replayEvent]],
    examples: [
      "svc replay evt_01h455vb4pex5vsknk084sn02q",
      "svc replay evt_01h455vb4pex5vsknk084sn02q --subscription sub_01h455vb4pex5vsknk084sn02q   # one delivery again",
      "svc replay --since 2h --only-undelivered --dry-run",
      "svc replay --since 2026-03-14T09:00:00Z --until 2026-03-14T12:00:00Z --subscription sub_01h455vb4pex5vsknk084sn02q",
    ],
    options: rangeOptions,
  },
  async ({ values, context, project, asJson }: Run<ReplayValues>, request) => {
    const { event: eventId } = values;
    if (eventId === undefined) {
      requireRange(values, "the id of an event, or --since for the events of a time");
      const { triggers } = await project();
      return printRange(await triggers.replayEvents(request), request, { context, asJson });
    }
    const others = ["since", "until", "toolkitSlug", "triggerSlug", "onlyUndelivered", "dryRun"] as const;
    if (others.some((name) => request[name] !== undefined)) {
      const told = "one event is replayed to all matching subscriptions, or to one with --subscription";
      throw new CommandError(`${told}: leave its id out to replay the events of a time`, 2);
    }
    const { subscriptionId } = request;
    const { triggers } = await project();
    const replayed = await triggers.replayEvent({ eventId, ...(subscriptionId !== undefined && { subscriptionId }) });
    if (asJson) return context.print(messageText(ReplayEventResponseSchema, replayed));
    for (const line of deliveryTable(replayed.deliveries)) context.print(line);
    for (const warning of replayed.warnings) context.note(`warning: ${warning}`);
    if (replayed.deliveries.length === 0) {
      context.note("No active subscription matches the event: nothing was queued.");
    }
  },
);

function printRange(
  replayed: ReplayEventsResponse,
  { dryRun, onlyUndelivered }: { readonly dryRun?: boolean; readonly onlyUndelivered?: boolean },
  { context, asJson }: Pick<Run<unknown>, "context" | "asJson">,
): void {
  if (asJson) {
    context.print(messageText(ReplayEventsResponseSchema, replayed));
    return;
  }
  const { count, deliveries } = replayed;
  const what = `${numberText(count)} ${count === 1 ? "delivery" : "deliveries"}`;
  for (const warning of replayed.warnings) context.note(`warning: ${warning}`);
  if (count === 0 && onlyUndelivered === true)
    context.note(
      "Events whose delivery is pending or succeeded are left out. `svc subscriptions try <id>` sends pending deliveries at once.",
    );
  if (dryRun === true) {
    context.print(`${what} would be queued`);
    return;
  }
  for (const line of deliveryTable(deliveries)) context.print(line);
  const rest = count > deliveries.length ? `, of which the first ${deliveries.length} are listed` : "";
  context.note(`${what} queued${rest}. \`svc deliveries --subscription <id>\` shows the results.`);
}

type StartValues = JsonOption & { readonly since?: number; readonly onlyFailed?: true; readonly watch?: true };

/** The command `svc events replay`, which delivers the events of a period again, at a limited rate. */
export const addEventReplay = command(
  TriggersService.method.startReplay,
  {
    says: "deliver the events of a time again, at a limited pace, to the subscriptions that match them",
    options: [
      ...rangeOptions,
      ["--only-failed", "only events whose delivery failed, without events that were never sent"],
      rateOption,
      ["--watch", "show its progress until it ends"],
    ],
    more: watchNotes,
    examples: [
      "svc events replay --since 2d --rate 50/s --watch",
      "svc events replay --since 2d --only-undelivered --dry-run",
      "svc events replay --since 2026-03-14T09:00:00Z --subscription sub_01h455vb4pex5vsknk084sn02q --rate 500/s",
    ],
  },
  async ({ values, context, project, asJson }: Run<StartValues>, request) => {
    requireRange(values, "--since");
    const client = await project();
    const started = await client.triggers.startReplay({ ...request, ...(values.onlyFailed && { states: ["failed"] }) });
    const { replay, total, counts } = started;
    for (const warning of started.warnings) context.note(`warning: ${warning}`);
    if (replay === undefined) {
      if (asJson) return context.print(messageText(StartReplayResponseSchema, started));
      context.print(`${numberText(total)} ${total === 1 ? "delivery" : "deliveries"} would be queued`);
      const rows = counts.map(({ subscriptionId, count }) => [subscriptionId, numberText(count)]);
      if (rows.length > 0) for (const line of tableLines(["SUBSCRIPTION", "DELIVERIES"], rows)) context.print(line);
      return;
    }
    if (values.watch) {
      context.note(replay.id);
      return watchReplay(client, replay.id, { options: values, context });
    }
    context.print(asJson ? messageText(ReplaySchema, replay) : replay.id);
    context.note(
      `The replay has begun: ${progressText(replay)}. \`svc replays watch ${replay.id}\` shows the progress.`,
    );
  },
);
