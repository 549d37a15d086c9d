import { type Subscription, type SubscriptionHealth, TriggersService } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { attemptErrorWords } from "../../words/deliveries.ts";
import { healthWord, pauserOf, receivesWords } from "../../words/subscriptions.ts";
import { durationWords } from "../../words/time.ts";
import { subscriptionsSearch } from "./filters.ts";

const subscriptions = listPage({
  title: "Subscriptions",
  method: TriggersService.method.listSubscriptions,
  rows: "subscriptions",
  params: subscriptionsSearch,
  keep: ({ state }, one) => state === undefined || stateOf(one) === state,
  tabs: [
    { words: "All", sets: { state: undefined } },
    { words: "Failing", sets: { state: "failing" } },
    { words: "Paused or off", sets: { state: "paused" } },
  ],
  noMatch: "No subscription is in this state",
  everyMs: 5_000,
  actions: ({ projectId }) => (
    <Link to="/p/$projectId/subscriptions/new" params={{ projectId }} className={buttonClass("primary")}>
      New subscription
    </Link>
  ),
  columns: [
    {
      id: "endpoint",
      title: "Endpoint",
      width: "minmax(180px, 2fr)",
      linked: ({ endpointUrl, description }) => (
        <span title={description || endpointUrl}>{endpointUrl.replace(/^https?:\/\//, "")}</span>
      ),
    },
    { id: "receives", title: "Receives", width: "minmax(140px, 1fr)", cell: receivesWords },
    {
      id: "health",
      title: "State",
      width: "128px",
      cell: (one) => <State word={healthWord(one.health?.state ?? "", one.inactiveReason, pauserOf(one))} />,
    },
    { id: "answer", title: "Last failure", width: "minmax(120px, 1fr)", cell: ({ health }) => failureWords(health) },
    { id: "p50", title: "Answers in", width: "96px", cell: ({ health }) => timeWords(health) },
    { id: "created", title: "Created", width: "120px", cell: ({ createdAt }) => <Time at={createdAt} /> },
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

/** Returns the tab of a subscription that needs attention; undefined if it is well. */
function stateOf({ active, health }: Subscription): "failing" | "paused" | undefined {
  if (!active) return "paused";
  return health?.failingSince === undefined ? undefined : "failing";
}

/** Returns the latest error in words. An endpoint that is well again shows none. */
function failureWords(health: SubscriptionHealth | undefined): string {
  return health?.failingSince === undefined ? "" : attemptErrorWords(health.lastError);
}

function timeWords(health: SubscriptionHealth | undefined): string {
  return health === undefined || health.measuredAttempts === 0 ? "" : durationWords(health.p50Ms);
}

/** Draws the page with the subscriptions of the project and the health of their endpoints. */
export default function SubscriptionsPage() {
  return <ListPage of={subscriptions} />;
}
