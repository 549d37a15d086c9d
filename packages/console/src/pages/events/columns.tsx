import type { Event } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { shortId } from "../../ui/copy.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { Time } from "../../ui/time.tsx";

/** The columns of the list of events. */
export function eventColumns(projectId: string): readonly Column<Event>[] {
  return [
    { id: "received", title: "Received", width: "136px", cell: ({ receivedAt }) => <Time at={receivedAt} /> },
    { id: "trigger", title: "Trigger", width: "minmax(160px, 2fr)", cell: ({ triggerSlug }) => triggerSlug },
    { id: "entity", title: "Entity", width: "minmax(72px, 1fr)", cell: ({ entityId }) => entityId },
    { id: "id", title: "Id", width: "136px", cell: ({ id }) => <EventLink projectId={projectId} id={id} /> },
  ];
}

/** An event on a phone. */
export function eventCard(event: Event) {
  return (
    <>
      <b>{event.triggerSlug}</b>
      <Line apart>
        <Time at={event.receivedAt} />
        <span>{event.entityId}</span>
      </Line>
    </>
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
