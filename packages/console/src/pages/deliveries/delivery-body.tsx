import type { Delivery } from "@svc/gen/triggers";
import { Link, useNavigate } from "@tanstack/react-router";
import { useNow } from "../../clock.ts";
import { Copyable } from "../../ui/copy.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Section } from "../../ui/section.tsx";
import { Stack } from "../../ui/stack.tsx";
import { Time } from "../../ui/time.tsx";
import { isHeldBack } from "../../words/deliveries.ts";
import { ReplayButton } from "../events/replay-button.tsx";
import { Attempts } from "./attempts.tsx";
import { useSubscriptions } from "./endpoints.ts";

/** What is known of a delivery, its attempts, and the way to send its event again once it is given up. */
export function DeliveryBody({ projectId, delivery }: { projectId: string; delivery: Delivery }) {
  const { endpointOf } = useSubscriptions();
  const { id, eventId, subscriptionId, state, attempts, createdAt, nextAttemptAt, replayed } = delivery;
  const navigate = useNavigate();
  const now = useNow();
  const next = state === "pending" ? nextAttemptAt : undefined;
  const waits = next !== undefined && isHeldBack(next, now);
  const eventLink = (
    <Link to="/p/$projectId/events/$eventId" params={{ projectId, eventId }}>
      <code>{eventId}</code>
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
          ["Queued", <Time key="queued" at={createdAt} />],
          ["By", replayed ? "a replay" : "the arrival of its event"],
          [
            "Next attempt",
            next === undefined ? undefined : waits ? "once its endpoint answers again" : <Time key="next" at={next} />,
          ],
        ]}
      />
      <Section
        title="Attempts"
        actions={
          (state !== "pending" || attempts > 0) && (
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
            Its endpoint fails, so that one delivery to it is tried at a time, ever more rarely. When that one succeeds,
            this one follows by itself, and so does a replay.
          </p>
        ) : (
          state === "pending" &&
          attempts > 0 && (
            <p>
              It is sent again by itself, at its next attempt. A replay is a second delivery, which waits, too, while
              the endpoint fails.
            </p>
          )
        )}
        <Attempts deliveryId={id} isPending={state === "pending"} />
      </Section>
    </Stack>
  );
}
