import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListEventsRequestSchema } from "@svc/gen/triggers";
import { listSearch, spanParams } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { spanRequest } from "../../words/spans.ts";
import { everythingSince, type ReplaysSearch } from "../replays/filters.ts";

/** Maximum length, in characters, of the text that the service searches for in payloads. */
const textMax = 200;

/** Parameters in the address of the page that lists events: its filters, and the open event. */
export const eventsSearch = listSearch(
  {
    toolkit: textParam,
    trigger: textParam,
    /** Shows only events of this entity (the customer or user to whose account an event belongs). */
    entity: textParam,
    /** Text that the payload contains, with the same upper and lower case. */
    text: (value: string) => textParam(value.slice(0, textMax)),
    ...spanParams,
  },
  {
    /** `off` stops new rows from appearing; otherwise the list is live. */
    live: oneOfParam(["off"]),
    /** Id of the event whose panel is open next to the list. Unset: the panel is closed. */
    open: textParam,
  },
  (
    { toolkit = "", trigger = "", entity = "", text = "", ...span },
    now,
  ): MessageInitShape<typeof ListEventsRequestSchema> => ({
    pageSize: 200,
    toolkitSlug: toolkit,
    triggerSlug: trigger,
    entityId: entity,
    payloadContains: text,
    withDeliveries: true,
    withGlance: true,
    ...spanRequest(span, now),
  }),
);

/** Filters and other parameters from the address of the events page, already checked and converted. */
export type EventsSearch = ReturnType<typeof eventsSearch.read>;

/**
 * Returns the filters that are set and that a replay does not support. With these filters, a replay would deliver more events than the list
 * shows. Empty if a replay delivers exactly the listed events.
 */
export function beyondReplays({ entity, text }: EventsSearch): string {
  return [entity !== undefined && "entity", text !== undefined && "text"].filter(Boolean).join(" and ");
}

/** Returns the search parameters of the page that starts a replay of the listed events. `now`: current time in milliseconds. */
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
