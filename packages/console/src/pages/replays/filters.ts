import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { readTime } from "@svc/core/time";
import { oneOfParam, type SearchOf, searchReader, textParam, timeParam } from "../../shell/search-params.ts";

const params = {
  /** `yes` opens the dialog that starts one, with what follows. */
  start: oneOfParam(["yes"]),
  subscription: textParam,
  toolkit: textParam,
  trigger: textParam,
  since: timeParam,
  /** Up to the moment of the start where it is not there. */
  until: timeParam,
  /** Whether what was delivered already is left out. */
  only: oneOfParam(["undelivered"]),
};

/** The search parameters of the list of replays. */
export type ReplaysSearch = SearchOf<typeof params>;

/** Reads the search parameters of the list of replays. */
export const readReplaysSearch: (raw: Record<string, unknown>) => ReplaysSearch = searchReader(params);

/** Since before anything that is kept. */
export const everythingSince = "1970-01-01T00:00:00.000Z";

/** So far back a replay goes, unless the address says otherwise. */
const dayMs = 86_400_000;

/** Which events are delivered again, and to whom. */
export type ReplayRange = {
  since: Timestamp;
  until?: Timestamp;
  subscriptionId: string;
  toolkitSlug: string;
  triggerSlug: string;
  onlyUndelivered: boolean;
};

/** What is replayed for these parameters; `now` in milliseconds. */
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
  };
}
