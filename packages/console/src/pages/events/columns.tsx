import type { Event, EventDeliveries } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { shortId } from "../../ui/copy.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { deliveryCountWords } from "../../words/deliveries.ts";
import styles from "./columns.module.css";

/** The columns of the list of events; beside an open event, those that fit there: its panel has the others. */
export function eventColumns(projectId: string, isBeside: boolean): readonly Column<Event>[] {
  const columns: Column<Event>[] = [
    {
      id: "received",
      title: "Received",
      width: isBeside ? "104px" : "136px",
      cell: ({ receivedAt }) => <Time at={receivedAt} />,
    },
    {
      id: "trigger",
      title: "Trigger",
      width: isBeside ? "minmax(96px, 1fr)" : "minmax(160px, 2fr)",
      cell: ({ triggerSlug }) => triggerSlug,
    },
    { id: "entity", title: "Entity", width: "minmax(72px, 1fr)", cell: ({ entityId }) => entityId },
    {
      id: "deliveries",
      title: "Deliveries",
      width: isBeside ? "224px" : "minmax(224px, 1fr)",
      cell: ({ deliveries }) => <DeliveryStates of={deliveries} />,
    },
    { id: "id", title: "Id", width: "136px", cell: ({ id }) => <EventLink projectId={projectId} id={id} /> },
  ];
  return isBeside ? columns.filter(({ id }) => id !== "entity" && id !== "id") : columns;
}

/** An event on a phone. */
export function eventCard(event: Event) {
  return (
    <>
      <b>{event.triggerSlug}</b>
      <Line apart>
        <Time at={event.receivedAt} />
        <span>{event.entityId}</span>
        <DeliveryStates of={event.deliveries} />
      </Line>
    </>
  );
}

/** How many deliveries of an event are in which state, those that need somebody first. */
function DeliveryStates({ of }: { of: EventDeliveries | undefined }) {
  if (of === undefined) return null;
  const words = deliveryCountWords(of);
  if (words.length === 0) return <span className={styles["quiet"]}>to nobody</span>;
  return (
    <span className={styles["states"]}>
      {words.map((word) => (
        <State key={word.icon} word={word} />
      ))}
    </span>
  );
}

/** The id of an event, short, as a link to its page. */
function EventLink({ projectId, id }: { projectId: string; id: string }) {
  return (
    <Link to="/p/$projectId/events/$eventId" params={{ projectId, eventId: id }} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  );
}
