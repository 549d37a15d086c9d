import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { useContext } from "react";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { listSearch } from "../../frame/list-search.ts";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { SiteName } from "../../ui/layout/page.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { useCanChange } from "../customer.ts";
import { endpointWord, receivedTypes } from "../words.ts";

const endpoints = listPage({
  title: "Endpoints",
  method: TriggersService.method.listSubscriptions,
  rows: "subscriptions",
  params: listSearch({}, {}, () => ({})),
  everyMs: 5_000,
  actions: ({ projectId }) =>
    useCanChange() && (
      <Link to="/p/$projectId/subscriptions/new" params={{ projectId }} className={buttonClass("primary")}>
        New endpoint
      </Link>
    ),
  columns: [
    {
      id: "health",
      title: "Health",
      width: "minmax(128px, max-content)",
      cell: (endpoint) => <Health endpoint={endpoint} />,
    },
    { id: "endpoint", title: "Endpoint", width: "minmax(200px, 2fr)", linked: ({ endpointUrl }) => endpointUrl },
    { id: "description", title: "Description", width: "minmax(120px, 1fr)", cell: ({ description }) => description },
    { id: "receives", title: "Receives", width: "minmax(140px, 1fr)", cell: receivedTypes },
    { id: "created", title: "Created", width: "136px", cell: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  card: (subscription) => (
    <>
      <b>{subscription.endpointUrl}</b>
      <Line apart>
        <Health endpoint={subscription} />
        <span>{receivedTypes(subscription)}</span>
      </Line>
    </>
  ),
  rowId: ({ id }) => id,
  open: ({ id }, projectId) => ({
    to: "/p/$projectId/subscriptions/$subscriptionId",
    params: { projectId, subscriptionId: id },
  }),
  empty: () => (
    <Empty icon="subscription" title="No endpoint yet">
      <p>An endpoint is an address of your server. Events are posted to it, signed, and sent again if it fails.</p>
    </Empty>
  ),
});

function Health({ endpoint }: { endpoint: Subscription }) {
  return <State word={endpointWord(endpoint, useContext(SiteName))} />;
}

/** Draws the endpoints of the customer and their health. */
export default function EndpointsPage() {
  return <ListPage of={endpoints} />;
}
