import styles from "./list.module.css";

/** Draws an event in short: its trigger, and its first values. Draws only its id if it is not known. */
export function DeliveredEvent({
  event,
  eventId,
}: {
  event: { triggerSlug: string; text: string } | undefined;
  eventId: string;
}) {
  if (event === undefined) return <code>{eventId}</code>;
  return (
    <span title={event.text}>
      <b className={styles["event"]}>{event.triggerSlug === "" ? "test event" : event.triggerSlug}</b>{" "}
      <bdi className={styles["glance"]}>{event.text}</bdi>
    </span>
  );
}
