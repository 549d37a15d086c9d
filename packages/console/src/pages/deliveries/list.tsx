import { type Delivery, TriggersService } from "@svc/gen/triggers";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { useNow } from "../../clock.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Empty, NoMatch } from "../../ui/empty.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { useIsPhone } from "../../ui/media.ts";
import { Page } from "../../ui/page.tsx";
import { SidePanel } from "../../ui/split.tsx";
import { deliveryCard, deliveryColumns } from "./columns.tsx";
import { DeliveryBody } from "./delivery-body.tsx";
import { DeliveryFilters } from "./delivery-filters.tsx";
import { useSubscriptions } from "./endpoints.ts";
import { type DeliveriesSearch, deliveriesRequest, isFiltered, isOfAll, noFilters } from "./filters.ts";

const route = getRouteApi("/p/$projectId/deliveries");
const idOf = ({ id }: Delivery) => id;
const lookMs = 5_000;
const minuteMs = 60_000;

/** The deliveries to one subscription, or those of a state to every one, newest first, and one of them beside the list. */
export default function DeliveriesPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { subscriptions, endpointOf, ...ofSubscriptions } = useSubscriptions();
  const request = deliveriesRequest(search, subscriptions?.[0]?.id ?? "", useNow(minuteMs));
  const subscriptionId = request.subscriptionId ?? "";
  const rows = useRows(TriggersService.method.listDeliveries, request, ({ deliveries }) => deliveries, {
    enabled: subscriptionId !== "" || isOfAll(search),
    refetchMs: lookMs,
  });
  // Whose deliveries they would be is not known where the subscriptions could not be read: nothing loads then.
  const isUnknown = subscriptions === undefined && ofSubscriptions.error !== null && !isOfAll(search);
  const list = isUnknown ? { ...rows, ...ofSubscriptions, state: "failed" as const } : rows;
  const change = (to: DeliveriesSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  const open = (deliveryId: string) =>
    void navigate({ to: "/p/$projectId/deliveries/$deliveryId", params: { projectId, deliveryId } });
  // Deliveries outlive their subscription, and are found by their state.
  const isOfNone = subscriptions?.length === 0 && !isOfAll(search);
  const filters = subscriptions !== undefined && !isOfNone && (
    <DeliveryFilters search={search} subscriptions={subscriptions} onChange={change} />
  );
  if (isOfNone) {
    return (
      <Page title="Deliveries" fill>
        <NoSubscription />
      </Page>
    );
  }
  return (
    <ListPage
      title="Deliveries"
      filters={filters}
      list={list}
      isFiltered={isFiltered(search)}
      empty={<NoDeliveries endpoint={endpointOf(subscriptionId)} />}
      noMatch={<NoMatch title="No delivery matches" onClear={() => change(noFilters)} />}
      columns={deliveryColumns(projectId, subscriptionId === "" ? endpointOf : undefined)}
      card={deliveryCard}
      rowId={idOf}
      onOpen={({ id }) => open(id)}
      onPanel={(delivery) => change({ open: delivery?.id })}
      openId={search.open}
      panel={
        <DeliveryPanel
          projectId={projectId}
          delivery={list.rows.find(({ id }) => id === search.open)}
          onClose={() => change({ open: undefined })}
        />
      }
    />
  );
}

function DeliveryPanel({
  projectId,
  delivery,
  onClose,
}: {
  projectId: string;
  delivery: Delivery | undefined;
  onClose: () => void;
}) {
  const isPhone = useIsPhone();
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
    <Empty icon="subscription" title="No subscription yet">
      <p>A delivery is one event on its way to one subscription: subscribe an endpoint first.</p>
    </Empty>
  );
}

function NoDeliveries({ endpoint }: { endpoint: string }) {
  return (
    <Empty icon="delivery" title="No deliveries yet">
      <p>Nothing was delivered to {endpoint} yet. An event that matches its subscription makes the first.</p>
    </Empty>
  );
}
