import { useQuery } from "@connectrpc/connect-query";
import { TriggersService } from "@svc/gen/triggers";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Attempts } from "../../pages/deliveries/attempts.tsx";
import { useSubscriptions } from "../../pages/deliveries/endpoints.ts";
import { ReplayButton } from "../../pages/events/replay-button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock, Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { deliveryWord } from "../../words/deliveries.ts";
import { prettyJson } from "../../words/pretty-json.ts";
import { useCanChange } from "../customer.ts";
import { typeName } from "../words.ts";

const lookMs = 2_000;

/** Draws one delivery: its attempts, its event, and the button that sends the event again. */
export default function DeliveryPage() {
  const { projectId = "", deliveryId = "" } = useParams({ strict: false });
  const { endpointOf } = useSubscriptions();
  const navigate = useNavigate();
  const canChange = useCanChange();
  const { getDelivery, getEvent } = TriggersService.method;
  const query = useQuery(
    getDelivery,
    { id: deliveryId },
    { refetchInterval: ({ state }) => (state.data?.delivery?.state === "pending" ? lookMs : false) },
  );
  const found = query.data?.delivery;
  const { eventId = "", subscriptionId = "", state = "" } = found ?? {};
  const event = useQuery(getEvent, { id: eventId }, { enabled: eventId !== "" });
  const { triggerSlug = "", payloadJson = "", receivedAt } = event.data?.event ?? {};
  const endpoint = (
    <Link to="/p/$projectId/subscriptions/$subscriptionId" params={{ projectId, subscriptionId }}>
      {endpointOf(subscriptionId)}
    </Link>
  );
  return (
    <Page
      title="Delivery"
      tab={`Delivery ${deliveryId}`}
      state={found !== undefined && <State word={deliveryWord(found)} />}
      back={found !== undefined && endpoint}
    >
      <FaultNotice error={query.error} onRetry={() => void query.refetch()} />
      {query.isPending && <Skeleton />}
      {found !== undefined && (
        <>
          <Facts
            facts={[
              ["Id", <Copyable key="id" text={deliveryId} what="id" />],
              ["To", endpoint],
              ["Created", <Time key="queued" at={found.createdAt} />],
              ["Sent because", found.replayed ? "it was sent again" : "of a new event"],
            ]}
          />
          <Section
            title="Attempts"
            actions={
              canChange &&
              state !== "pending" && (
                <ReplayButton
                  eventId={eventId}
                  subscriptionId={subscriptionId}
                  words="Send again"
                  onQueued={(id) =>
                    void navigate({ to: "/p/$projectId/deliveries/$deliveryId", params: { projectId, deliveryId: id } })
                  }
                />
              )
            }
          >
            <Attempts deliveryId={deliveryId} isPending={state === "pending"} />
          </Section>
          <Section title="Event">
            <FaultNotice error={event.error} onRetry={() => void event.refetch()} />
            {event.data !== undefined && (
              <>
                <Facts
                  facts={[
                    ["Id", <Copyable key="id" text={eventId} what="id" />],
                    ["Type", triggerSlug === "" ? "a test event" : <code key="type">{typeName(triggerSlug)}</code>],
                    ["Received", <Time key="received" at={receivedAt} />],
                  ]}
                />
                <CodeBlock text={prettyJson(payloadJson)} what="payload" />
              </>
            )}
          </Section>
        </>
      )}
    </Page>
  );
}
