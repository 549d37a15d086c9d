import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Grid } from "../../ui/grid.tsx";
import { ListStates } from "../../ui/list-states.tsx";
import { Page } from "../../ui/page.tsx";
import { subscriptionCard, subscriptionColumns } from "./columns.tsx";

const route = getRouteApi("/p/$projectId/subscriptions");
const idOf = ({ id }: Subscription) => id;
const lookMs = 5_000;

/** Who receives the events of the project, and how their endpoints are. */
export default function SubscriptionsPage() {
  const { projectId } = route.useParams();
  const navigate = route.useNavigate();
  const list = useRows(TriggersService.method.listSubscriptions, {}, ({ subscriptions }) => subscriptions, {
    refetchMs: lookMs,
  });
  const open = (subscriptionId: string) =>
    void navigate({ to: "/p/$projectId/subscriptions/$subscriptionId", params: { projectId, subscriptionId } });
  const add = (
    <Link to="/p/$projectId/subscriptions/new" params={{ projectId }} className={buttonClass("primary")}>
      New subscription
    </Link>
  );
  return (
    <Page title="Subscriptions" fill actions={add}>
      <ListStates
        list={list}
        isFiltered={false}
        noMatch={null}
        empty={
          <Empty icon="subscription" title="No subscription yet">
            <p>
              A subscription names an endpoint of yours. Events are posted to it, signed and tried again until it takes
              them.
            </p>
          </Empty>
        }
      >
        <Grid
          label="Subscriptions"
          columns={subscriptionColumns(projectId)}
          card={subscriptionCard}
          rows={list.rows}
          rowId={idOf}
          onOpen={({ id }) => open(id)}
          hasMore={list.hasMore}
          loadMore={list.loadMore}
          loadingMore={list.loadingMore}
        />
      </ListStates>
    </Page>
  );
}
