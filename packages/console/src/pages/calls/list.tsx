import { type ToolCall, ToolsService } from "@svc/gen/tools";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useLiveRows } from "../../calls/live-rows.ts";
import { useNow } from "../../clock.ts";
import { CodeBlock } from "../../ui/copy.tsx";
import { Empty, NoMatch } from "../../ui/empty.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { CallFilters } from "./call-filters.tsx";
import { CallPanel } from "./call-panel.tsx";
import { callCard, callColumns } from "./columns.tsx";
import { type CallsSearch, callsRequest, isFiltered, noFilters } from "./filters.ts";

const route = getRouteApi("/p/$projectId/calls");
const minuteMs = 60_000;
const idOf = ({ id }: ToolCall) => id;

/** The ledger of the project's calls, newest first, and one of them beside it. */
export default function CallsPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const request = callsRequest(search, useNow(minuteMs));
  const list = useLiveRows(ToolsService.method.listToolCalls, request, "calls", idOf, search.live !== "off");
  const change = (to: CallsSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  const open = (callId: string) => void navigate({ to: "/p/$projectId/calls/$callId", params: { projectId, callId } });
  return (
    <ListPage
      title="Calls"
      filters={<CallFilters search={search} onChange={change} />}
      list={list}
      isFiltered={isFiltered(search)}
      empty={<NoCalls projectId={projectId} />}
      noMatch={<NoMatch title="No call matches" onClear={() => change(noFilters)} />}
      columns={callColumns(projectId)}
      card={callCard}
      rowId={idOf}
      onOpen={({ id }) => open(id)}
      onPanel={(call) => change({ open: call?.id })}
      openId={search.open}
      panel={
        search.open !== undefined && (
          <CallPanel projectId={projectId} id={search.open} onClose={() => change({ open: undefined })} />
        )
      }
    />
  );
}

function NoCalls({ projectId }: { projectId: string }) {
  return (
    <Empty icon="calls" title="No calls yet">
      <p>
        Every call of a tool is recorded here.{" "}
        <Link to="/p/$projectId/tools" params={{ projectId }}>
          Try a tool
        </Link>
        , or make a call:
      </p>
      <CodeBlock text="npx svc call calendar.list_events --entity ada --arg calendar_id=primary" />
    </Empty>
  );
}
