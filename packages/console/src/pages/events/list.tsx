import { type Event, TriggersService } from "@svc/gen/triggers";
import { getRouteApi } from "@tanstack/react-router";
import { useLiveRows } from "../../calls/live-rows.ts";
import { useNow } from "../../clock.ts";
import { CodeBlock } from "../../ui/copy.tsx";
import { Empty, NoMatch } from "../../ui/empty.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { eventCard, eventColumns } from "./columns.tsx";
import { EventFilters } from "./event-filters.tsx";
import { EventPanel } from "./event-panel.tsx";
import { type EventsSearch, eventsRequest, isFiltered, noFilters } from "./filters.ts";

const route = getRouteApi("/p/$projectId/events");
const minuteMs = 60_000;
const idOf = ({ id }: Event) => id;

/** The events of the project, newest first, and one of them beside the list. */
export default function EventsPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const request = eventsRequest(search, useNow(minuteMs));
  const list = useLiveRows(TriggersService.method.listEvents, request, "events", idOf, search.live !== "off");
  const change = (to: EventsSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  const open = (eventId: string) =>
    void navigate({ to: "/p/$projectId/events/$eventId", params: { projectId, eventId } });
  return (
    <ListPage
      title="Events"
      filters={<EventFilters projectId={projectId} search={search} onChange={change} />}
      list={list}
      isFiltered={isFiltered(search)}
      empty={<NoEvents />}
      noMatch={<NoMatch title="No event matches" onClear={() => change(noFilters)} />}
      columns={eventColumns(projectId, search.open !== undefined)}
      card={eventCard}
      rowId={idOf}
      onOpen={({ id }) => open(id)}
      onPanel={(event) => change({ open: event?.id })}
      openId={search.open}
      panel={
        search.open !== undefined && (
          <EventPanel projectId={projectId} id={search.open} onClose={() => change({ open: undefined })} />
        )
      }
    />
  );
}

function NoEvents() {
  return (
    <Empty icon="event" title="No events yet">
      <p>
        An event is what an app posted to its path under /webhooks/. Send a sample, signed as the app would sign it:
      </p>
      <CodeBlock text="npx svc trigger calendar" />
      <p>It appears here within two seconds.</p>
    </Empty>
  );
}
