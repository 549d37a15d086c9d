import type { Delivery } from "@svc/gen/triggers";
import type { ListPart } from "../../frame/list-filters.tsx";
import { anyOf, Choice } from "../../ui/fields/choice.tsx";
import { SpanChoice } from "../../ui/fields/span-choice.tsx";
import { ClearFilters } from "../../ui/rows/clear-filters.tsx";
import { useSubscriptions } from "./endpoints.ts";
import { type DeliveriesSearch, deliveriesSearch, deliveryFilters, isOfAll, subscriptionOf } from "./filters.ts";

/** The filters of the list of deliveries. */
export function DeliveryFilters({ search, change }: ListPart<Delivery, DeliveriesSearch>) {
  const { subscriptions } = useSubscriptions();
  if (subscriptions === undefined) return null;
  const endpoints = subscriptions.map(({ id, endpointUrl }) => ({
    value: id,
    words: endpointUrl.replace(/^https?:\/\//, ""),
    note: id,
  }));
  const ofAll = isOfAll(search);
  return (
    <>
      <Choice
        label="To"
        value={subscriptionOf(search, subscriptions[0]?.id)}
        options={ofAll ? [{ value: "", words: "any endpoint" }, ...endpoints] : endpoints}
        onChange={(subscription) => change({ subscription: subscription || undefined, open: undefined })}
      />
      <Choice
        label="State"
        value={search.state ?? ""}
        options={anyOf(deliveryFilters)}
        onChange={(value) => change({ state: deliveryFilters.find((state) => state === value) })}
      />
      <SpanChoice label="Queued" span={search} onChange={change} />
      {(deliveriesSearch.isFiltered(search) || search.subscription !== undefined) && (
        <ClearFilters onPress={() => change({ ...deliveriesSearch.noFilters, subscription: undefined })} />
      )}
    </>
  );
}
