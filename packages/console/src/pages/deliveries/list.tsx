import { type Delivery, TriggersService } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { useNow } from "../../clock.ts";
import type { ListPart } from "../../frame/list-filters.tsx";
import { type ListColumns, listView, ShownList, useListSearch } from "../../frame/list-page.tsx";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { anyOption, Choice, SpanChoice } from "../../ui/fields/choice.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { SidePanel } from "../../ui/layout/split.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { useIsPhone } from "../../ui/media.ts";
import { Empty } from "../../ui/notice/empty.tsx";
import { ClearFilters } from "../../ui/rows/list-states.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { deliveryFilterOptions, deliveryFilters, deliveryWhy, deliveryWord } from "../../words/deliveries.ts";
import { DeliveryBody } from "./delivery-body.tsx";
import { useSubscriptions } from "./endpoints.ts";
import { type DeliveriesSearch, deliveriesRequest, deliveriesSearch, isOfAll, subscriptionOf } from "./filters.ts";

const lookMs = 5_000;
const minuteMs = 60_000;

const deliveries = listView({
  title: "Deliveries",
  params: deliveriesSearch,
  filters: DeliveryFilters,
  columns: useDeliveryColumns,
  card: (delivery: Delivery) => (
    <>
      <Line apart>
        <State word={deliveryWord(delivery)} />
        <Time at={delivery.createdAt} />
      </Line>
      <Why delivery={delivery} />
    </>
  ),
  rowId: ({ id }) => id,
  open: ({ id }, projectId) => ({ to: "/p/$projectId/deliveries/$deliveryId", params: { projectId, deliveryId: id } }),
  panel: DeliveryPanel,
  empty: NoDeliveries,
  noMatch: "No delivery matches",
});

/**
 * Draws the deliveries to one subscription, or the deliveries in one state to every subscription. The newest is first; the open delivery
 * has a panel.
 */
export default function DeliveriesPage() {
  const search = useListSearch(deliveriesSearch);
  const { subscriptions, error, reload } = useSubscriptions();
  const first = subscriptions?.[0]?.id;
  const rows = useRows(
    TriggersService.method.listDeliveries,
    deliveriesRequest(search, first, useNow(minuteMs)),
    (answer) => answer.deliveries,
    { enabled: isOfAll(search) || subscriptionOf(search, first) !== "", refetchMs: lookMs },
  );
  // A deleted subscription's deliveries are kept. They can be found by their state.
  if (subscriptions?.length === 0 && !isOfAll(search)) {
    return (
      <Page title="Deliveries" fill>
        <NoSubscription />
      </Page>
    );
  }
  // If the subscriptions could not be read, the page does not know whose deliveries to show, so it loads none.
  const isUnknown = subscriptions === undefined && error !== null && !isOfAll(search);
  return <ShownList of={deliveries} list={isUnknown ? { ...rows, error, reload, state: "failed" } : rows} />;
}

/** Returns the columns of the list. If the list shows several subscriptions, it has a column for the subscription. */
function useDeliveryColumns({ search }: ListPart<Delivery, DeliveriesSearch>): ListColumns<Delivery> {
  const { subscriptions, endpointOf } = useSubscriptions();
  const to: ListColumns<Delivery> = [
    {
      id: "to",
      title: "To",
      width: "minmax(120px, 1fr)",
      cell: ({ subscriptionId }) => <span title={endpointOf(subscriptionId)}>{endpointOf(subscriptionId)}</span>,
    },
  ];
  return [
    { id: "created", title: "Created", width: "136px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: "state", title: "State", width: "120px", cell: (delivery) => <State word={deliveryWord(delivery)} /> },
    ...(subscriptionOf(search, subscriptions?.[0]?.id) === "" ? to : []),
    { id: "attempts", title: "Attempts", width: "72px", cell: ({ attempts }) => attempts },
    {
      id: "why",
      title: "Last failure, next attempt",
      width: "minmax(160px, 2fr)",
      cell: (delivery) => <Why delivery={delivery} />,
    },
    "id",
  ];
}

/** Draws in words why a delivery is in its state. */
function Why({ delivery }: { delivery: Delivery }) {
  return <span>{deliveryWhy(delivery, useNow())}</span>;
}

function DeliveryPanel({
  projectId,
  rows,
  id,
  onClose,
}: ListPart<Delivery, DeliveriesSearch> & { id: string; onClose: () => void }) {
  const isPhone = useIsPhone();
  const delivery = rows.find((row) => row.id === id);
  if (delivery === undefined || isPhone) return null;
  const link = (
    <Link
      to="/p/$projectId/deliveries/$deliveryId"
      params={{ projectId, deliveryId: delivery.id }}
      className={buttonClass("quiet")}
    >
      Open page
    </Link>
  );
  return (
    <SidePanel title={delivery.id} link={link} onClose={onClose}>
      <DeliveryBody projectId={projectId} delivery={delivery} />
    </SidePanel>
  );
}

function NoSubscription() {
  return (
    <Empty icon="subscription" title="No subscriptions yet">
      <p>A delivery sends one event to one endpoint. Create a subscription first.</p>
    </Empty>
  );
}

function NoDeliveries({ search }: ListPart<Delivery, DeliveriesSearch>) {
  const { subscriptions, endpointOf } = useSubscriptions();
  return (
    <Empty icon="delivery" title="No deliveries yet">
      <p>
        Nothing was sent to {endpointOf(subscriptionOf(search, subscriptions?.[0]?.id))} yet. The first event that
        matches the subscription is sent there.
      </p>
    </Empty>
  );
}

/** Draws the filters of the list of deliveries. */
function DeliveryFilters({ search, change }: ListPart<Delivery, DeliveriesSearch>) {
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
        options={[anyOption, ...deliveryFilterOptions]}
        onChange={(value) => change({ state: deliveryFilters.find((state) => state === value) })}
      />
      <SpanChoice label="Created" span={search} onChange={change} />
      {(deliveriesSearch.isFiltered(search) || search.subscription !== undefined) && (
        <ClearFilters onPress={() => change({ ...deliveriesSearch.noFilters, subscription: undefined })} />
      )}
    </>
  );
}
