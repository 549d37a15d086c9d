import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { type Delivery, TriggersService } from "@svc/gen/triggers";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { deliveryWord, isHeldBack } from "../../words/deliveries.ts";
import { Attempts } from "./attempts.tsx";

/** Draws one delivery of an event as a line. The line opens to show the attempts. */
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
          <State word={deliveryWord(delivery)} />
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

/**
 * Shows the time of the next attempt of a delivery. If the endpoint fails (`isHeld`), shows instead that the delivery waits because of its
 * endpoint. Shows nothing before the first attempt, because that attempt follows immediately.
 */
function Next({ at, isFirst, isHeld }: { at: Timestamp; isFirst: boolean; isHeld: boolean }) {
  if (isHeld) return <span>waiting: endpoint is failing</span>;
  return isFirst ? null : (
    <span>
      next <Time at={at} />
    </span>
  );
}

/** Draws a button that sends a waiting delivery immediately, or all deliveries that wait for an endpoint. */
export function TryNow({
  request,
  words = "Try now",
  isMain = false,
}: {
  request: { deliveryId: string } | { subscriptionId: string };
  /** Label of the button. Default: `Try now`. */
  words?: string;
  /** True if it is the main button of its part of the page. */
  isMain?: boolean;
}) {
  const queries = useQueryClient();
  const send = useWrite(TriggersService.method.tryNow, {
    onSuccess: ({ count }) => {
      announce(
        count === 0
          ? "Nothing is waiting."
          : count === 1
            ? "1 delivery is due now."
            : `${count} deliveries are due now.`,
      );
      return queries.invalidateQueries();
    },
  });
  return (
    <>
      <Button
        kind={isMain ? "primary" : "plain"}
        icon="play"
        busy={send.isSending ? "Sending" : undefined}
        onPress={() => send.send(request)}
      >
        {words}
      </Button>
      <FaultNotice error={send.error} />
    </>
  );
}
