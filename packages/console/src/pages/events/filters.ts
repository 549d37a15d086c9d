import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListEventsRequestSchema } from "@svc/gen/triggers";
import { listSearch, spanParams } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { spanRequest } from "../../words/spans.ts";
import { everythingSince, type ReplaysSearch } from "../replays/filters.ts";

/** The service looks for no longer text. */
const textMax = 200;

/** The search parameters of the list of events. */
export const eventsSearch = listSearch(
  {
    toolkit: textParam,
    trigger: textParam,
    /** Whose account the payload names. */
    entity: textParam,
    /** Text that the payload has, letter for letter. */
    text: (value: string) => textParam(value.slice(0, textMax)),
    ...spanParams,
  },
  {
    /** `off` holds the list still; else what comes in is shown. */
    live: oneOfParam(["off"]),
    /** Id of the event beside the list. */
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
    ...spanRequest(span, now),
  }),
);

/** Search parameters of the list of events, as they were read. */
export type EventsSearch = ReturnType<typeof eventsSearch.read>;

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
