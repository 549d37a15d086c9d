import type { Delivery } from "@svc/gen/triggers";
import { Link, useNavigate } from "@tanstack/react-router";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";
import { isHeldBack } from "../../words/deliveries.ts";
import { ReplayButton } from "../events/replay-button.tsx";
import { AttemptTimeline } from "./attempt-timeline.tsx";
import { DeliveredEvent } from "./delivered-event.tsx";
import { TryNow } from "./delivery-item.tsx";
import { useSubscriptions } from "./endpoints.ts";
import { SentAttempts } from "./sent-attempts.tsx";

/** Draws the facts of a delivery and its attempts. If svc gave up on the delivery, also draws the button that sends its event again. */
export default function DeliveryBody({ projectId, delivery }: { projectId: string; delivery: Delivery }) {
  const { endpointOf } = useSubscriptions();
  const { id, eventId, subscriptionId, state, attempts, createdAt, nextAttemptAt, replayed, waitingReason } = delivery;
  const navigate = useNavigate();
  const next = state === "pending" ? nextAttemptAt : undefined;
  const waits = next !== undefined && isHeldBack(delivery);
  const eventLink = (
    <Link to="/p/$projectId/events/$eventId" params={{ projectId, eventId }}>
      <DeliveredEvent event={delivery.event} eventId={delivery.eventId} />
    </Link>
  );
  const endpointLink = (
    <Link to="/p/$projectId/subscriptions/$subscriptionId" params={{ projectId, subscriptionId }}>
      {endpointOf(subscriptionId)}
    </Link>
  );
  return (
    <Stack>
      <Facts
        facts={[
          ["Id", <Copyable key="id" text={id} what="id" />],
          ["Event", eventLink],
          ["To", endpointLink],
          ["Created", <Time key="queued" at={createdAt} />],
          ["Sent because", replayed ? "resent" : "new event"],
          [
            "Next attempt",
            next === undefined ? undefined : waits ? (
              <>
                the endpoint is failing, next test <Time key="next" at={next} />
              </>
            ) : (
              <Time key="next" at={next} />
            ),
          ],
        ]}
      />
      <Section
        title="Attempts"
        actions={
          state === "pending" ? (
            (waitingReason === "retry" || waits) && <TryNow request={{ deliveryId: id }} />
          ) : (
            <ReplayButton
              eventId={eventId}
              subscriptionId={subscriptionId}
              onQueued={(deliveryId) =>
                void navigate({ to: "/p/$projectId/deliveries/$deliveryId", params: { projectId, deliveryId } })
              }
            />
          )
        }
      >
        {waits ? (
          <p>
            This endpoint is failing, so svc sends one delivery at a time to test it. When one succeeds, the rest are
            sent. Try now sends this delivery as the next test.
          </p>
        ) : (
          state === "pending" &&
          attempts > 0 && (
            <p>
              svc retries this delivery automatically, or at once with Try now. If you resend the event instead, the
              endpoint receives it twice.
            </p>
          )
        )}
        <AttemptTimeline delivery={delivery} />
        <SentAttempts deliveryId={id} isPending={state === "pending"} />
      </Section>
    </Stack>
  );
}
