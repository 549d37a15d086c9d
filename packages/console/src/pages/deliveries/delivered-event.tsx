import type { Delivery } from "@svc/gen/triggers";
import styles from "./list.module.css";

/** Draws which event a delivery has: its trigger, and its first values. */
export function DeliveredEvent({ delivery: { event, eventId } }: { delivery: Pick<Delivery, "event" | "eventId"> }) {
  if (event === undefined) return <code>{eventId}</code>;
  return (
    <span title={event.text}>
      <b className={styles["event"]}>{event.triggerSlug === "" ? "test event" : event.triggerSlug}</b>{" "}
      <bdi className={styles["glance"]}>{event.text}</bdi>
    </span>
  );
}
