import { TriggersService } from "@svc/gen/triggers";
import { useState } from "react";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { listSearch } from "../../frame/list-search.ts";
import { DocumentDialog } from "../../pages/event-types/dialogs.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { Empty } from "../../ui/notice/empty.tsx";

const eventTypes = listPage({
  title: "Event types",
  method: TriggersService.method.listEventTypes,
  rows: "eventTypes",
  params: listSearch({}, {}, () => ({ pageSize: 100 })),
  actions: Download,
  columns: [
    { id: "name", title: "Type", width: "minmax(140px, 1fr)", linked: ({ name }) => <code>{name}</code> },
    { id: "says", title: "Description", width: "minmax(160px, 2fr)", cell: ({ description }) => description },
  ],
  card: ({ name, description }) => (
    <>
      <b>{name}</b>
      <span>{description}</span>
    </>
  ),
  rowId: ({ name }) => name,
  open: ({ name }, projectId) => ({ to: "/p/$projectId/event-types/$name", params: { projectId, name } }),
  empty: () => (
    <Empty icon="tag" title="No event types yet">
      <p>An event type says what the events of one kind contain. Those that your endpoints can receive appear here.</p>
    </Empty>
  ),
});

/** Draws the event types that the project offers. */
export default function EventTypesPage() {
  return <ListPage of={eventTypes} />;
}

function Download({ rows }: { rows: readonly object[] }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button
        why={rows.length === 0 ? "There is no event type to describe yet" : undefined}
        onPress={() => setAsked(true)}
      >
        Download document
      </Button>
      {isAsked && <DocumentDialog isForCustomer onClose={() => setAsked(false)} />}
    </>
  );
}
