import { AdminService, type AuditEvent } from "@svc/gen/admin";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { useNow } from "../../clock.ts";
import { shortId } from "../../ui/copy.tsx";
import { Empty, NoMatch } from "../../ui/empty.tsx";
import { Grid } from "../../ui/grid.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { ListStates } from "../../ui/list-states.tsx";
import { Page } from "../../ui/page.tsx";
import { Line } from "../../ui/stack.tsx";
import { Time } from "../../ui/time.tsx";
import { AuditFilters } from "./audit-filters.tsx";
import { type AuditSearch, auditRequest, isFiltered, noFilters } from "./filters.ts";

const route = getRouteApi("/admin/audit");
const anId = /^[a-z]+_[0-9a-z]{26}$/;
const idOf = ({ id }: AuditEvent) => id;

const columns: readonly Column<AuditEvent>[] = [
  { id: "at", title: "At", width: "136px", cell: ({ at }) => <Time at={at} /> },
  { id: "action", title: "Action", width: "minmax(200px, 2fr)", cell: ({ action }) => action },
  { id: "subject", title: "To what", width: "minmax(160px, 2fr)", cell: ({ subject }) => named(subject) },
  { id: "outcome", title: "Outcome", width: "136px", cell: ({ outcome }) => outcome },
  { id: "actor", title: "Who", width: "minmax(120px, 1fr)", cell: ({ actor }) => <Who actor={actor} /> },
  {
    id: "project",
    title: "Project",
    width: "minmax(120px, 1fr)",
    cell: ({ projectId }) => named(projectId || "deployment"),
  },
];

/** An id without its middle, as its end tells it from its neighbours; the whole of it is in the title. Other names stand as they are. */
function named(name: string) {
  return anId.test(name) ? <code title={name}>{shortId(name)}</code> : name;
}

/** Who did something; leads to all that they did. */
function Who({ actor }: { actor: string }) {
  return (
    <Link to="/admin/audit" search={(old) => ({ ...old, who: actor })}>
      {named(actor)}
    </Link>
  );
}

/** Who did what, newest first. */
export default function AuditPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow(60_000);
  const list = useRows(AdminService.method.listAuditEvents, auditRequest(search, now), ({ events }) => events);
  const change = (to: AuditSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  return (
    <Page title="Audit log" fill filters={<AuditFilters search={search} events={list.rows} onChange={change} />}>
      <ListStates
        list={list}
        isFiltered={isFiltered(search)}
        empty={
          <Empty icon="check" title="Nothing was done yet">
            <p>Calls that change what someone may do, answers, and destructive calls of tools are listed here.</p>
          </Empty>
        }
        noMatch={<NoMatch title="No deed matches" onClear={() => change(noFilters)} />}
      >
        <Grid
          label="Audit log"
          columns={columns}
          card={auditCard}
          rows={list.rows}
          rowId={idOf}
          onOpen={({ projectId }) =>
            projectId !== "" && void navigate({ to: "/admin/projects/$id", params: { id: projectId } })
          }
          hasMore={list.hasMore}
          loadMore={list.loadMore}
          loadingMore={list.loadingMore}
        />
      </ListStates>
    </Page>
  );
}

function auditCard({ action, subject, outcome, actor, at }: AuditEvent) {
  return (
    <>
      <Line apart>
        <b>{action}</b>
        <Time at={at} />
      </Line>
      <span>{named(subject)}</span>
      <Line apart>
        <span>{named(actor)}</span>
        <span>{outcome}</span>
      </Line>
    </>
  );
}
