import { Link, useParams } from "@tanstack/react-router";
import { DraftEditor, type EditedDraft } from "./draft-editor.tsx";
import { DraftFields } from "./draft-fields.tsx";

/** Draws the form of a subscription with all of its fields, and the preview with links to the pages of events. */
export function SubscriptionEditor(edited: EditedDraft) {
  const { subscription } = edited;
  return (
    <DraftEditor
      {...edited}
      fields={(form) => <DraftFields form={form} {...(subscription !== undefined && { subscription })} />}
      eventLink={(eventId) => <EventLink eventId={eventId} />}
    />
  );
}

function EventLink({ eventId }: { eventId: string }) {
  const { projectId = "" } = useParams({ strict: false });
  return (
    <Link to="/p/$projectId/events/$eventId" params={{ projectId, eventId }}>
      Open the event
    </Link>
  );
}
