import { AppNamed } from "../../ui/marks/tiles.tsx";
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
  const { triggerSlug, text } = event;
  const words = (
    <>
      <b className={styles["event"]}>{triggerSlug === "" ? "test event" : triggerSlug}</b>{" "}
      <bdi className={styles["glance"]}>{text}</bdi>
    </>
  );
  return <span title={text}>{triggerSlug === "" ? words : <AppNamed slug={triggerSlug}>{words}</AppNamed>}</span>;
}
