import { TriggersService } from "@svc/gen/triggers";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { listSearch } from "../../frame/list-search.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { eventTypeWord } from "../../words/event-types.ts";
import { DocumentDialog, EventTypeDialog } from "./dialogs.tsx";

const eventTypes = listPage({
  title: "Event types",
  method: TriggersService.method.listEventTypes,
  rows: "eventTypes",
  params: listSearch({}, {}, () => ({ pageSize: 100 })),
  actions: Actions,
  columns: [
    { id: "name", title: "Type", width: "minmax(140px, 1fr)", linked: ({ name }) => <code>{name}</code> },
    { id: "state", title: "State", width: "120px", cell: (type) => <State word={eventTypeWord(type)} /> },
    { id: "says", title: "Description", width: "minmax(160px, 2fr)", cell: ({ description }) => description },
    { id: "version", title: "Version", width: "80px", drop: 1, cell: ({ version }) => version },
    { id: "changed", title: "Changed", width: "136px", cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ],
  card: (type) => (
    <>
      <Line apart>
        <b>{type.name}</b>
        <State word={eventTypeWord(type)} />
      </Line>
      <span>{type.description}</span>
    </>
  ),
  rowId: ({ name }) => name,
  open: ({ name }, projectId) => ({ to: "/p/$projectId/event-types/$name", params: { projectId, name } }),
  empty: NoEventTypes,
});

/** Draws the types of the events that the project publishes. */
export default function EventTypesPage() {
  return <ListPage of={eventTypes} />;
}

function Actions({ projectId, rows }: { projectId: string; rows: readonly object[] }) {
  const [dialog, setDialog] = useState<"new" | "document">();
  const navigate = useNavigate();
  const close = () => setDialog(undefined);
  return (
    <Line>
      <Button
        why={rows.length === 0 ? "There is no event type to describe yet" : undefined}
        onPress={() => setDialog("document")}
      >
        Download document
      </Button>
      <Button kind="primary" why={useApproverWhy(projectId)} onPress={() => setDialog("new")}>
        New event type
      </Button>
      {dialog === "document" && <DocumentDialog onClose={close} />}
      {dialog === "new" && (
        <EventTypeDialog
          onClose={close}
          onDone={(name) => void navigate({ to: "/p/$projectId/event-types/$name", params: { projectId, name } })}
        />
      )}
    </Line>
  );
}

function NoEventTypes() {
  return (
    <Empty icon="tag" title="No event types yet">
      <p>
        An event type describes events that your own service publishes. svc stores them and delivers them to your
        subscriptions.
      </p>
      <CodeBlock text="npx svc event-types put invoice.paid" />
    </Empty>
  );
}
