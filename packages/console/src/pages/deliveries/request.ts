import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListDeliveriesRequestSchema } from "@svc/gen/triggers";
import type { DeliveryTab } from "../../words/delivery-filters.ts";
import { spanRequest } from "../../words/spans.ts";
import { everythingSince, type ReplaysSearch } from "../replays/filters.ts";
import type { DeliveriesSearch } from "./filters.ts";

const filterStates: Record<DeliveryTab, readonly string[]> = {
  failed: ["retrying", "failed"],
  pending: ["waiting", "retrying"],
  retrying: ["retrying"],
  delivered: ["delivered"],
  dead_letter: ["failed"],
};

const allStates = ["waiting", "retrying", "failed", "delivered"];

/**
 * Returns the API request that reads the listed deliveries. `search`: the parameters of the page's address. `now`: current time in
 * milliseconds.
 */
export function deliveriesRequest(
  { state, event = "", answer = "0", subscription = "", ...span }: DeliveriesSearch,
  now: number,
): MessageInitShape<typeof ListDeliveriesRequestSchema> {
  return {
    subscriptionId: subscription,
    // Without a filter, the list of one subscription is read without a scan.
    states: state !== undefined ? [...filterStates[state]] : subscription === "" ? allStates : [],
    triggerSlug: event,
    statusCode: Number(answer),
    ...spanRequest(span, now),
    pageSize: 100,
  };
}

/**
 * Returns the parameters for the address of the replay page, which open the dialog that sends the failed deliveries of this list again.
 * `now`: current time in milliseconds.
 */
export function resendFailed({ event, subscription, ...span }: DeliveriesSearch, now: number): ReplaysSearch {
  const { since, until } = spanRequest(span, now);
  return {
    ...{ start: "yes", only: "failed" },
    ...(event !== undefined && { trigger: event }),
    ...(subscription !== undefined && { subscription }),
    since: since === undefined ? everythingSince : timestampDate(since).toISOString(),
    ...(until !== undefined && { until: timestampDate(until).toISOString() }),
  };
}
