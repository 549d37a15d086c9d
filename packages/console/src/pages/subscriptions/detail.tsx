import { useQuery } from "@connectrpc/connect-query";
import { type Subscription, TriggersService } from "@svc/gen/triggers";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useNow } from "../../clock.ts";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Columns, Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import {
  credentialsWords,
  filterFaultWords,
  formatWords,
  healthSentence,
  healthWord,
  paceWords,
  pauserOf,
  receivesWords,
  retryWords,
} from "../../words/subscriptions.ts";
import { visible } from "../../words/text.ts";
import { TryNow } from "../deliveries/delivery-item.tsx";
import { SubscriptionActions } from "./actions.tsx";
import { SigningSecret } from "./signing-secret.tsx";
import { TestDelivery } from "./test-delivery.tsx";

const route = getRouteApi("/p/$projectId/subscriptions/$subscriptionId");
const lookMs = 3_000;

/** Draws the page of one subscription: the health of its endpoint in words, the next step if the endpoint fails, and the buttons. */
export default function SubscriptionPage() {
  const { projectId, subscriptionId } = route.useParams();
  const { missedSince } = route.useSearch();
  const query = useQuery(TriggersService.method.getSubscription, { id: subscriptionId }, { refetchInterval: lookMs });
  const found = query.data?.subscription;
  return (
    <Page
      title={found?.endpointUrl ?? "Subscription"}
      tab={`Subscription ${subscriptionId}`}
      state={
        found !== undefined && (
          <State word={healthWord(found.health?.state ?? "", found.inactiveReason, pauserOf(found))} />
        )
      }
      back={
        <Link to="/p/$projectId/subscriptions" params={{ projectId }}>
          Subscriptions
        </Link>
      }
      actions={found !== undefined && <SubscriptionActions projectId={projectId} subscription={found} />}
    >
      <FaultNotice error={query.error} onRetry={() => void query.refetch()} />
      {query.isPending && <Skeleton rows={4} />}
      {missedSince !== undefined && found?.active === true && (
        <Missed projectId={projectId} subscriptionId={subscriptionId} since={missedSince} />
      )}
      {found !== undefined && (
        <Columns>
          <Stack>
            <Health projectId={projectId} subscription={found} />
            <FilterFaults projectId={projectId} subscription={found} />
            {found.agent === undefined && <TestDelivery projectId={projectId} subscription={found} />}
            {found.agent === undefined && <SigningSecret subscription={found} />}
            {found.format?.kind === "custom" && (
              <Section title="Body">
                <JsonView text={found.format.bodyJson} label="body" />
              </Section>
            )}
          </Stack>
          <Section title="Subscription">
            <SubscriptionFacts projectId={projectId} subscription={found} />
          </Section>
        </Columns>
      )}
    </Page>
  );
}

function Health({ projectId, subscription }: { projectId: string; subscription: Subscription }) {
  const { id, health, inactiveReason } = subscription;
  const now = useNow();
  const state = health?.state ?? "";
  const { tone, icon } = healthWord(state, inactiveReason);
  return (
    <Notice
      tone={tone}
      icon={icon}
      title={
        health === undefined
          ? "The health is not known."
          : healthSentence(health, inactiveReason, now, pauserOf(subscription))
      }
      actions={
        health !== undefined && (
          <>
            {state !== "inactive" && health.pendingDeliveries > 0 && <TryNow request={{ subscriptionId: id }} />}
            {health.failingSince !== undefined && (
              <Link
                to="/p/$projectId/deliveries"
                params={{ projectId }}
                search={{ subscription: id, state: "failed" }}
                className={buttonClass()}
              >
                See what failed
              </Link>
            )}
          </>
        )
      }
    >
      {health !== undefined && health.pendingDeliveries > 0 && <p>{pendingWords(health.pendingDeliveries)} pending.</p>}
    </Notice>
  );
}

/**
 * Draws a notice if the subscription's filter failed for some events, for example because the payload lacks a field that the filter reads.
 * Such events are not delivered. The notice has a link to the form, which shows the reason.
 */
function FilterFaults({ projectId, subscription: { id, health } }: { projectId: string; subscription: Subscription }) {
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

const pendingMax = 10_000;

function pendingWords(count: number): string {
  if (count >= pendingMax) return "10,000 deliveries or more are";
  return count === 1 ? "One delivery is" : `${count.toLocaleString("en")} deliveries are`;
}

/** Draws a notice about events that were not delivered while the subscription was inactive. Only a replay delivers these events. */
function Missed({ projectId, subscriptionId, since }: { projectId: string; subscriptionId: string; since: string }) {
  return (
    <Notice
      tone="info"
      icon="replay"
      title="The subscription is on again. Events from the time in between were not delivered."
      actions={
        <Link
          to="/p/$projectId/replays"
          params={{ projectId }}
          search={{ start: "yes", subscription: subscriptionId, since, only: "undelivered" }}
          className={buttonClass("primary")}
        >
          Resend missed events
        </Link>
      }
    />
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
