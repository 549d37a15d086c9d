import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { InvalidArgumentError } from "commander";
import { CommandError } from "../../command/error.ts";
import { parseMoment } from "../../command/options.ts";

const perSecondMax = 5_000;

/** Reads a pace such as `50/s` as deliveries a second. Throws InvalidArgumentError. */
export function parsePace(text: string): number {
  const [, digits = ""] = /^(\d{1,4})(?:\/s)?$/.exec(text) ?? [];
  const perSecond = Number(digits);
  if (perSecond >= 1 && perSecond <= perSecondMax) return perSecond;
  throw new InvalidArgumentError(`expected deliveries a second, such as 50/s, up to ${perSecondMax}/s`);
}

/** The option of a pace. */
export const rateOption = ["--rate <pace>", "deliveries a second, such as 50/s", { parse: parsePace }] as const;

/** Which events a replay of a time means. */
export type RangeOptions = {
  since?: number;
  until?: number;
  toolkit?: string;
  trigger?: string;
  subscription?: string;
  onlyUndelivered?: true;
  dryRun?: true;
};

/** The options of a range. */
export const rangeOptions = [
  ["--since <when>", "events received then or later: 2h ago, or 2026-03-14T09:00:00Z", { parse: parseMoment }],
  ["--until <when>", "events received before (default: until now)", { parse: parseMoment }],
  ["--toolkit <slug>", "only events of this toolkit"],
  ["--trigger <slug>", "only events of this trigger, such as calendar.events_changed"],
  ["--subscription <id>", "only deliveries to this subscription, sub_…"],
  ["--only-undelivered", "leave out what was delivered to a subscription already, or still is pending"],
  ["--dry-run", "count the deliveries, and queue none"],
] as const;

/** The filters of a request. Throws CommandError without --since; `hint` says what else could be given. */
export function rangeRequest(options: RangeOptions, hint: string) {
  const { since, until, toolkit = "", trigger = "", subscription = "", dryRun = false } = options;
  if (since === undefined) throw new CommandError(`nothing says which events: give ${hint}`, 2);
  return {
    since: timestampFromMs(since),
    ...(until !== undefined && { until: timestampFromMs(until) }),
    ...{ toolkitSlug: toolkit, triggerSlug: trigger, subscriptionId: subscription, dryRun },
    onlyUndelivered: options.onlyUndelivered ?? false,
  };
}
