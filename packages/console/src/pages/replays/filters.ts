import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { oneOfParam, type ParamReader, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";

/** A time as RFC 3339 writes it. */
const timeParam: ParamReader = (value) => (Number.isNaN(Date.parse(value)) ? undefined : value);

const params = {
  /** `yes` opens the dialog that starts one, with what follows. */
  start: oneOfParam(["yes"]),
  subscription: textParam,
  toolkit: textParam,
  trigger: textParam,
  since: timeParam,
  /** Whether what was delivered already is left out. */
  only: oneOfParam(["undelivered"]),
};

/** The search parameters of the list of replays. */
export type ReplaysSearch = SearchOf<typeof params>;

/** Reads the search parameters of the list of replays. */
export const readReplaysSearch: (raw: Record<string, unknown>) => ReplaysSearch = searchReader(params);

/** So far back a replay goes, unless the address says otherwise. */
const dayMs = 86_400_000;

/** Which events are delivered again, and to whom. */
export type ReplayRange = {
  since: Timestamp;
  subscriptionId: string;
  toolkitSlug: string;
  triggerSlug: string;
  onlyUndelivered: boolean;
};

/** What is replayed for these parameters; `now` in milliseconds. */
export function replayRequest(
  { subscription = "", toolkit = "", trigger = "", since, only }: ReplaysSearch,
  now: number,
): ReplayRange {
  return {
    since: timestampFromMs(since === undefined ? now - dayMs : Date.parse(since)),
    subscriptionId: subscription,
    toolkitSlug: toolkit,
    triggerSlug: trigger,
    onlyUndelivered: only === "undelivered",
  };
}
