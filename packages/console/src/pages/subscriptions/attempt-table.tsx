import { useQuery } from "@connectrpc/connect-query";
import { type Delivery, TriggersService } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { useNow } from "../../clock.ts";
import { AttemptDots } from "../../ui/flow/attempt-dots.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Table } from "../../ui/rows/table.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { attemptWord, nextWords } from "../../words/deliveries.ts";
import { durationWords } from "../../words/time.ts";
import { DeliveredEvent } from "../deliveries/delivered-event.tsx";
import styles from "./overview.module.css";

const lookMs = 5_000;

/**
 * Draws the newest deliveries to a subscription as a table: the event, the endpoint's answer, the number of attempts, and what happens next.
 * `count`: number of deliveries in the table.
 */
export function AttemptTable({
  projectId,
  subscriptionId,
  count,
}: {
  projectId: string;
  subscriptionId: string;
  count: number;
}) {
  const now = useNow();
  const list = useQuery(
    TriggersService.method.listDeliveries,
    { subscriptionId, withDetails: true, pageSize: count },
    { refetchInterval: lookMs },
  );
  if (list.isPending) return <Skeleton rows={Math.min(count, 8)} />;
  if (list.data === undefined) return <FaultNotice error={list.error} onRetry={() => void list.refetch()} />;
  const { deliveries } = list.data;
  if (deliveries.length === 0) return <p>Nothing was sent to this endpoint yet.</p>;
  return (
    <Table
      label="Deliveries"
      ofTexts
      head={["Event", "Time", "Answer", "Tries", "Took", "Next"]}
      rows={deliveries.map((delivery) => ({ id: delivery.id, cells: cellsOf(delivery, projectId, now) }))}
    />
  );
}

function cellsOf(delivery: Delivery, projectId: string, now: number) {
  const { id, attempts, attemptMarks, state, lastError, lastStatusCode, lastAttemptAt, createdAt } = delivery;
  const last = attemptMarks.at(-1);
  return [
    <Link key="event" to="/p/$projectId/deliveries/$deliveryId" params={{ projectId, deliveryId: id }}>
      <span className={styles["clip"]}>
        <DeliveredEvent event={delivery.event} eventId={delivery.eventId} />
      </span>
    </Link>,
    <Time key="time" at={lastAttemptAt ?? createdAt} />,
    attempts === 0 ? (
      "not sent yet"
    ) : (
      <State key="answer" word={attemptWord(state === "delivered" ? "" : lastError, lastStatusCode)} />
    ),
    <AttemptDots
      key="tries"
      attempts={attemptMarks.map(({ error }) => error === "")}
      isPending={state === "pending"}
    />,
    last === undefined ? "" : durationWords(last.durationMs),
    nextWords(delivery, now),
  ];
}
