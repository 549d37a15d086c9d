import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListEventsRequestSchema } from "@svc/gen/triggers";
import { oneOfParam, type SearchOf, searchReader, textParam, timeParam } from "../../shell/search-params.ts";
import { rangeNames } from "../../words/ranges.ts";
import { noSpan, spanRequest } from "../../words/spans.ts";
import { everythingSince, type ReplaysSearch } from "../replays/filters.ts";

/** The service looks for no longer text. */
const textMax = 200;

const params = {
  toolkit: textParam,
  trigger: textParam,
  /** Whose account the payload names. */
  entity: textParam,
  /** Text that the payload has, letter for letter. */
  text: (value: string) => textParam(value.slice(0, textMax)),
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
    entityId: search.entity ?? "",
    payloadContains: search.text ?? "",
    withDeliveries: true,
    ...spanRequest(search, now),
  };
}

/** What filters the list, all taken away. */
export const noFilters: EventsSearch = {
  toolkit: undefined,
  trigger: undefined,
  entity: undefined,
  text: undefined,
  ...noSpan,
};

/** Whether anything is filtered, so that an empty list means no match rather than no event. */
export function isFiltered(search: EventsSearch): boolean {
  return Object.keys(noFilters).some((name) => search[name as keyof EventsSearch] !== undefined);
}

/** What a replay is not narrowed by, so that it would deliver more than the list shows. Empty where it delivers just that. */
export function beyondReplays({ entity, text }: EventsSearch): string {
  return [entity !== undefined && "entity", text !== undefined && "text"].filter(Boolean).join(" and ");
}

/** The search parameters of the page of replays that start one of what the list shows; `now` in milliseconds. */
export function replayOfThese({ toolkit, trigger, ...span }: EventsSearch, now: number): ReplaysSearch {
  const { since, until } = spanRequest(span, now);
  return {
    start: "yes",
    ...(toolkit !== undefined && { toolkit }),
    ...(trigger !== undefined && { trigger }),
    since: since === undefined ? everythingSince : timestampDate(since).toISOString(),
    ...(until !== undefined && { until: timestampDate(until).toISOString() }),
  };
}
