import type { Delivery } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { Disclosure } from "../../ui/disclosure.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { deliveryWord } from "../../words/deliveries.ts";
import { Attempts } from "./attempts.tsx";

/** One delivery of an event as a line that opens to its attempts. */
export function DeliveryItem({
  delivery,
  projectId,
  endpoint,
}: {
  delivery: Delivery;
  projectId: string;
  endpoint: string;
}) {
  const { id, state, attempts, nextAttemptAt, replayed } = delivery;
  return (
    <Disclosure
      summary={
        <>
          <State word={deliveryWord(state)} />
          <span>{endpoint}</span>
          <span>{attempts === 1 ? "1 attempt" : `${attempts} attempts`}</span>
          {replayed && <span>replayed</span>}
          {nextAttemptAt !== undefined && attempts > 0 && (
            <span>
              next <Time at={nextAttemptAt} />
            </span>
          )}
        </>
      }
    >
      <Attempts deliveryId={id} isPending={state === "pending"} />
      <p>
        <Link to="/p/$projectId/deliveries/$deliveryId" params={{ projectId, deliveryId: id }}>
          Page of this delivery
        </Link>
      </p>
    </Disclosure>
  );
}
