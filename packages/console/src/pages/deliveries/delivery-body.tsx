import type { Delivery } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { Copyable } from "../../ui/copy.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Section } from "../../ui/section.tsx";
import { Stack } from "../../ui/stack.tsx";
import { Time } from "../../ui/time.tsx";
import { ReplayButton } from "../events/replay-button.tsx";
import { Attempts } from "./attempts.tsx";
import { useSubscriptions } from "./endpoints.ts";

/** What is known of a delivery, its attempts, and the way to send its event again once it is given up. */
export function DeliveryBody({ projectId, delivery }: { projectId: string; delivery: Delivery }) {
  const { endpointOf } = useSubscriptions();
  const { id, eventId, subscriptionId, state, attempts, createdAt, nextAttemptAt, replayed } = delivery;
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
          ["Next attempt", nextAttemptAt === undefined ? undefined : <Time key="next" at={nextAttemptAt} />],
        ]}
      />
      <Section title="Attempts" actions={state === "dead_letter" && <ReplayButton eventId={eventId} />}>
        {state === "pending" && attempts > 0 && (
          <p>
            It is sent again by itself, at its next attempt. “Replay” on the page of its event queues a second delivery
            at once.
          </p>
        )}
        <Attempts deliveryId={id} isPending={state === "pending"} />
      </Section>
    </Stack>
  );
}
