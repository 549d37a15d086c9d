import type { Subscription } from "@svc/gen/triggers";
import { anyOf, Choice } from "../../ui/choice.tsx";
import { ClearFilters } from "../../ui/clear-filters.tsx";
import { SpanChoice } from "../../ui/span-choice.tsx";
import { type DeliveriesSearch, deliveryFilters, isFiltered, isOfAll, noFilters } from "./filters.ts";

/** The filters of the list of deliveries. */
export function DeliveryFilters({
  search,
  subscriptions,
  onChange,
}: {
  search: DeliveriesSearch;
  subscriptions: readonly Subscription[];
  onChange: (change: DeliveriesSearch) => void;
}) {
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
        value={search.subscription ?? (ofAll ? "" : (subscriptions[0]?.id ?? ""))}
        options={ofAll ? [{ value: "", words: "any endpoint" }, ...endpoints] : endpoints}
        onChange={(subscription) => onChange({ subscription: subscription || undefined, open: undefined })}
      />
      <Choice
        label="State"
        value={search.state ?? ""}
        options={anyOf(deliveryFilters)}
        onChange={(value) => onChange({ state: deliveryFilters.find((state) => state === value) })}
      />
      <SpanChoice label="Queued" span={search} onChange={onChange} />
      {(isFiltered(search) || search.subscription !== undefined) && (
        <ClearFilters onPress={() => onChange({ ...noFilters, subscription: undefined })} />
      )}
    </>
  );
}
