import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListEventsRequestSchema } from "@svc/gen/triggers";
import { oneOfParam, type SearchOf, searchReader, textParam, timeParam } from "../../shell/search-params.ts";
import { rangeNames } from "../../words/ranges.ts";
import { isSpan, noSpan, spanRequest } from "../../words/spans.ts";

const params = {
  toolkit: textParam,
  trigger: textParam,
  /** How far back; all that is kept where it is not there. */
  range: oneOfParam(rangeNames),
  /** From one time to another, in place of a range. */
  since: timeParam,
  until: timeParam,
  /** `off` holds the list still; else what comes in is shown. */
  live: oneOfParam(["off"]),
  /** Id of the event beside the list. */
  open: textParam,
};

/** The search parameters of the list of events. */
export type EventsSearch = SearchOf<typeof params>;

/** Reads the search parameters of the list of events. */
export const readEventsSearch: (raw: Record<string, unknown>) => EventsSearch = searchReader(params);

/** What is asked of the service for these parameters, `now` in milliseconds. */
export function eventsRequest(search: EventsSearch, now: number): MessageInitShape<typeof ListEventsRequestSchema> {
  return {
    pageSize: 200,
    toolkitSlug: search.toolkit ?? "",
    triggerSlug: search.trigger ?? "",
    ...spanRequest(search, now),
  };
}

/** What filters the list, all taken away. */
export const noFilters: EventsSearch = { toolkit: undefined, trigger: undefined, ...noSpan };

/** Whether anything is filtered, so that an empty list means no match rather than no event. */
export function isFiltered(search: EventsSearch): boolean {
  return search.toolkit !== undefined || search.trigger !== undefined || isSpan(search);
}
