import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Delivery } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { deliveryWord, isHeldBack } from "../../words/deliveries.ts";
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
          {state === "pending" && nextAttemptAt !== undefined && (
            <Next at={nextAttemptAt} isFirst={attempts === 0} isHeld={isHeldBack(delivery)} />
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

/** When the next attempt is, or that it waits for others to the same endpoint. The first is about to be made. */
function Next({ at, isFirst, isHeld }: { at: Timestamp; isFirst: boolean; isHeld: boolean }) {
  if (isHeld) return <span>waits, since its endpoint fails</span>;
  return isFirst ? null : (
    <span>
      next <Time at={at} />
    </span>
  );
}
