import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { readTime } from "@svc/core/time";
import { oneOfParam, type SearchOf, searchReader, textParam, timeParam } from "../../shell/search-params.ts";

const params = {
  /**
   * `yes` opens the dialog that starts a replay. The parameters below fill this dialog: the receiver, the events and the time range of the
   * replay.
   */
  start: oneOfParam(["yes"]),
  subscription: textParam,
  toolkit: textParam,
  trigger: textParam,
  since: timeParam,
  /** End of the range. Default: the time at which the replay starts. */
  until: timeParam,
  /**
   * `undelivered`: the replay leaves out events that were already delivered. `failed`: it sends only events whose delivery failed for good.
   * Not set: it sends all events of the range again.
   */
  only: oneOfParam(["undelivered", "failed"]),
};

/** Parameters from the address of the replays page, already checked and converted. They can open the dialog that starts a replay. */
export type ReplaysSearch = SearchOf<typeof params>;

/** Reads the parameters in the address of the replays page, and leaves out those that are invalid. */
export const readReplaysSearch: (raw: Record<string, unknown>) => ReplaysSearch = searchReader(params);

/** Start of a replay of all stored events: the start of 1970, which is before every event. */
export const everythingSince = "1970-01-01T00:00:00.000Z";

/** Default length of a replay's range, in milliseconds. */
const dayMs = 86_400_000;

/** The events that a replay sends again, selected by time, toolkit, trigger and state, and the subscription that receives them. */
export type ReplayRange = {
  since: Timestamp;
  until?: Timestamp;
  subscriptionId: string;
  toolkitSlug: string;
  triggerSlug: string;
  onlyUndelivered: boolean;
  states: string[];
};

/** Returns the range and receivers of a replay, from the parameters in the page's address. `now`: current time in epoch milliseconds. */
export function replayRequest(
  { subscription = "", toolkit = "", trigger = "", since, until, only }: ReplaysSearch,
  now: number,
): ReplayRange {
  const untilMs = readTime(until ?? "");
  return {
    since: timestampFromMs(readTime(since ?? "") ?? now - dayMs),
    ...(untilMs !== undefined && { until: timestampFromMs(untilMs) }),
    subscriptionId: subscription,
    toolkitSlug: toolkit,
    triggerSlug: trigger,
    onlyUndelivered: only === "undelivered",
    states: only === "failed" ? ["failed"] : [],
  };
}
