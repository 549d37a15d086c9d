import type { Subscription } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { shortId } from "../../ui/copy.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { healthWord } from "../../words/subscriptions.ts";

/** What a subscription receives, in words. */
export function receivesWords({
  toolkitSlug,
  triggerSlug,
  entityId,
  agent,
}: Pick<Subscription, "toolkitSlug" | "triggerSlug" | "entityId" | "agent">): string {
  const events = triggerSlug || (toolkitSlug === "" ? "every event" : `every event of ${toolkitSlug}`);
  const narrowed = entityId === "" ? events : `${events}, of ${entityId}`;
  return agent === undefined ? narrowed : `${narrowed} (an agent, over MCP)`;
}

/** The columns of the list of subscriptions. */
export function subscriptionColumns(projectId: string): readonly Column<Subscription>[] {
  return [
    {
      id: "health",
      title: "Health",
      width: "128px",
      cell: ({ health }) => <State word={healthWord(health?.state ?? "")} />,
    },
    { id: "endpoint", title: "Endpoint", width: "minmax(200px, 2fr)", cell: ({ endpointUrl }) => endpointUrl },
    { id: "receives", title: "Receives", width: "minmax(140px, 1fr)", cell: receivesWords },
    { id: "created", title: "Created", width: "136px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: "id",
      title: "Id",
      width: "136px",
      cell: ({ id }) => (
        <Link to="/p/$projectId/subscriptions/$subscriptionId" params={{ projectId, subscriptionId: id }} title={id}>
          <code>{shortId(id)}</code>
        </Link>
      ),
    },
  ];
}

/** A subscription on a phone. */
export function subscriptionCard(subscription: Subscription) {
  return (
    <>
      <b>{subscription.endpointUrl}</b>
      <Line apart>
        <State word={healthWord(subscription.health?.state ?? "")} />
        <span>{receivesWords(subscription)}</span>
      </Line>
    </>
  );
}
