import { TriggersService } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { listSearch } from "../../frame/list-search.ts";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { healthWord, pauserOf, receivesWords } from "../../words/subscriptions.ts";

const subscriptions = listPage({
  title: "Subscriptions",
  method: TriggersService.method.listSubscriptions,
  rows: "subscriptions",
  params: listSearch({}, {}, () => ({})),
  everyMs: 5_000,
  actions: ({ projectId }) => (
    <Link to="/p/$projectId/subscriptions/new" params={{ projectId }} className={buttonClass("primary")}>
      New subscription
    </Link>
  ),
  columns: [
    {
      id: "health",
      title: "Health",
      width: "128px",
      cell: (one) => <State word={healthWord(one.health?.state ?? "", one.inactiveReason, pauserOf(one))} />,
    },
    { id: "endpoint", title: "Endpoint", width: "minmax(200px, 2fr)", cell: ({ endpointUrl }) => endpointUrl },
    { id: "description", title: "Description", width: "minmax(120px, 1fr)", cell: ({ description }) => description },
    { id: "receives", title: "Receives", width: "minmax(140px, 1fr)", cell: receivesWords },
    { id: "created", title: "Created", width: "136px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    "id",
  ],
  card: (subscription) => (
    <>
      <b>{subscription.endpointUrl}</b>
      <Line apart>
        <State
          word={healthWord(subscription.health?.state ?? "", subscription.inactiveReason, pauserOf(subscription))}
        />
        <span>{receivesWords(subscription)}</span>
      </Line>
      {subscription.description !== "" && <span>{subscription.description}</span>}
    </>
  ),
  rowId: ({ id }) => id,
  open: ({ id }, projectId) => ({
    to: "/p/$projectId/subscriptions/$subscriptionId",
    params: { projectId, subscriptionId: id },
  }),
  empty: () => (
    <Empty icon="subscription" title="No subscriptions yet">
      <p>svc sends events to your endpoint, signed, and retries until it accepts them.</p>
    </Empty>
  ),
});

/** Draws the page with the subscriptions of the project and the health of their endpoints. */
export default function SubscriptionsPage() {
  return <ListPage of={subscriptions} />;
}
