import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ListEventsRequestSchema } from "@svc/gen/triggers";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";
import { rangeNames, ranges } from "../../words/ranges.ts";

const params = {
  toolkit: textParam,
  trigger: textParam,
  /** How far back; all that is kept where it is not there. */
  range: oneOfParam(rangeNames),
  /** `off` holds the list still; else what comes in is shown. */
  live: oneOfParam(["off"]),
  /** Id of the event beside the list. */
  open: textParam,
};

/** The search parameters of the list of events. */
export type EventsSearch = SearchOf<typeof params>;

/** Reads the search parameters of the list of events. */
export const readEventsSearch: (raw: Record<string, unknown>) => EventsSearch = searchReader(params);

/** A range begins at a whole minute, so that the same list is the same request for that long. */
const stepMs = 60_000;

/** What is asked of the service for these parameters, `now` in milliseconds. */
export function eventsRequest(
  { toolkit, trigger, range }: EventsSearch,
  now: number,
): MessageInitShape<typeof ListEventsRequestSchema> {
  const since = range === undefined ? undefined : Math.floor((now - ranges[range]) / stepMs) * stepMs;
  return {
    pageSize: 200,
    toolkitSlug: toolkit ?? "",
    triggerSlug: trigger ?? "",
    ...(since !== undefined && { since: timestampFromMs(since) }),
  };
}

/** Whether anything is filtered, so that an empty list means no match rather than no event. */
export function isFiltered({ toolkit, trigger, range }: EventsSearch): boolean {
  return toolkit !== undefined || trigger !== undefined || range !== undefined;
}
