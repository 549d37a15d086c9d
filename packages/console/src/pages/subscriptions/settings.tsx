import type { Subscription } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";
import {
  credentialsWords,
  filterFaultWords,
  formatWords,
  paceWords,
  receivesWords,
  retryWords,
} from "../../words/subscriptions.ts";
import { visible } from "../../words/text.ts";

/** Draws which events a subscription receives, where they are sent, and in which form. */
export function Settings({ projectId, subscription }: { projectId: string; subscription: Subscription }) {
  return (
    <Stack>
      <FilterFaults projectId={projectId} subscription={subscription} />
      <Section title="Subscription">
        <SubscriptionFacts projectId={projectId} subscription={subscription} />
      </Section>
      {subscription.format?.kind === "custom" && (
        <Section title="Body">
          <JsonView text={subscription.format.bodyJson} label="body" />
        </Section>
      )}
    </Stack>
  );
}

/**
 * Draws a notice if the subscription's filter failed for some events, for example because the payload lacks a field that the filter reads.
 * Such events are not delivered. The notice has a link to the form, which shows the reason.
 */
export function FilterFaults({
  projectId,
  subscription: { id, health },
}: {
  projectId: string;
  subscription: Subscription;
}) {
  const count = health?.filterFaults ?? 0;
  if (count === 0) return null;
  return (
    <Notice
      tone="warn"
      title={filterFaultWords(count, true)}
      actions={
        <Link
          to="/p/$projectId/subscriptions/$subscriptionId/change"
          params={{ projectId, subscriptionId: id }}
          className={buttonClass()}
        >
          See why
        </Link>
      }
    >
      <p>A field is absent or has another type. Counted since the filter was set.</p>
    </Notice>
  );
}

function SubscriptionFacts({ projectId, subscription }: { projectId: string; subscription: Subscription }) {
  const { id, endpointUrl, createdAt, health, agent, description, match, format, retry, credentials, pausedAt, pace } =
    subscription;
  const filter = match?.filter ?? "";
  return (
    <Facts
      facts={[
        ["Endpoint", <Copyable key="url" text={endpointUrl} what="address" />],
        ["Description", description || undefined],
        ["Receives", receivesWords(subscription)],
        ["Filter", filter === "" ? undefined : <code key="filter">{visible(filter)}</code>],
        ["Format", agent === undefined ? formatWords(format?.kind ?? "") : undefined],
        ["Credentials", agent === undefined ? credentialsWords(credentials) : undefined],
        ["Retries", retryWords(retry)],
        ["Pace", pace === undefined ? undefined : paceWords(pace)],
        ["Id", <Copyable key="id" text={id} what="id" />],
        ["Created", <Time key="created" at={createdAt} />],
        ["Paused", pausedAt === undefined ? undefined : <Time key="paused" at={pausedAt} />],
        ...agentFacts(agent),
        ["Last success", <Time key="success" at={health?.lastSuccessAt} none="none recently" />],
        [
          "Deliveries",
          <Link key="deliveries" to="/p/$projectId/deliveries" params={{ projectId }} search={{ subscription: id }}>
            all of them
          </Link>,
        ],
      ]}
    />
  );
}

/**
 * Returns the facts of a subscription that an agent created over MCP. They are the agent's key, the id that the agent gave to the
 * subscription, and the time at which the subscription ends. The agent can refresh the subscription before this time, so that it does not
 * end.
 */
function agentFacts(agent: Subscription["agent"]): readonly (readonly [string, ReactNode])[] {
  if (agent === undefined) return [];
  return [
    ["Created over MCP by", <Copyable key="key" text={agent.keyId} what="key" />],
    ["The agent's id of it", <Copyable key="mcp" text={agent.id} what="id" />],
    ["Ends unless refreshed", <Time key="ends" at={agent.refreshBefore} />],
  ];
}
