import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Command } from "commander";
import { CommandError } from "../command/error.ts";
import { parseMoment } from "../command/options.ts";

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

/** Adds the options of a range. */
export function addRangeOptions(command: Command): Command {
  return command
    .option("--since <when>", "events received then or later: 2h ago, or 2026-03-14T09:00:00Z", parseMoment)
    .option("--until <when>", "events received before (default: until now)", parseMoment)
    .option("--toolkit <slug>", "only events of this toolkit")
    .option("--trigger <slug>", "only events of this trigger, such as calendar.events_changed")
    .option("--subscription <id>", "only deliveries to this subscription, sub_…")
    .option("--only-undelivered", "leave out what was delivered to a subscription already, or still is pending")
    .option("--dry-run", "count the deliveries, and queue none");
}

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
