import { type Delivery, TriggersService } from "@svc/gen/triggers";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Choice } from "../../ui/choice.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Grid } from "../../ui/grid.tsx";
import { ListStates } from "../../ui/list-states.tsx";
import { useIsPhone } from "../../ui/media.ts";
import { Page } from "../../ui/page.tsx";
import { SidePanel, Split } from "../../ui/split.tsx";
import { deliveryCard, deliveryColumns } from "./columns.tsx";
import { DeliveryBody } from "./delivery-body.tsx";
import { useSubscriptions } from "./endpoints.ts";
import type { DeliveriesSearch } from "./filters.ts";

const route = getRouteApi("/p/$projectId/deliveries");
const idOf = ({ id }: Delivery) => id;
const lookMs = 5_000;

/** The deliveries to one subscription, newest first, and one of them beside the list. */
export default function DeliveriesPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { subscriptions, endpointOf } = useSubscriptions();
  const subscriptionId = search.subscription ?? subscriptions?.[0]?.id ?? "";
  const list = useRows(
    TriggersService.method.listDeliveries,
    { subscriptionId, pageSize: 200 },
    ({ deliveries }) => deliveries,
    {
      enabled: subscriptionId !== "",
      refetchMs: lookMs,
    },
  );
  const change = (to: DeliveriesSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  const options =
    subscriptions?.map(({ id, endpointUrl }) => ({
      value: id,
      words: endpointUrl.replace(/^https?:\/\//, ""),
      note: id,
    })) ?? [];
  const filters = options.length > 0 && (
    <Choice
      label="To"
      value={subscriptionId}
      options={options}
      onChange={(subscription) => change({ subscription, open: undefined })}
    />
  );
  return (
    <Page title="Deliveries" fill filters={filters}>
      {subscriptions?.length === 0 ? (
        <NoSubscription />
      ) : (
        <Split
          list={
            <ListStates
              list={list}
              isFiltered={false}
              empty={<NoDeliveries endpoint={endpointOf(subscriptionId)} />}
              noMatch={null}
            >
              <Grid
                label="Deliveries"
                columns={deliveryColumns(projectId)}
                card={deliveryCard}
                rows={list.rows}
                rowId={idOf}
                onOpen={({ id }) =>
                  void navigate({ to: "/p/$projectId/deliveries/$deliveryId", params: { projectId, deliveryId: id } })
                }
                onPanel={(delivery) => change({ open: delivery?.id })}
                openId={search.open}
                hasMore={list.hasMore}
                loadMore={list.loadMore}
                loadingMore={list.loadingMore}
              />
            </ListStates>
          }
          panel={
            <DeliveryPanel
              projectId={projectId}
              delivery={list.rows.find(({ id }) => id === search.open)}
              onClose={() => change({ open: undefined })}
            />
          }
        />
      )}
    </Page>
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
