import { AdminService, type AuditEvent } from "@svc/gen/admin";
import { Link } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { anyOption } from "../../ui/fields/choice.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { shortId } from "../../ui/values/copy.tsx";
import { Time } from "../../ui/values/time.tsx";
import { auditSearch } from "./filters.ts";

const anId = /^[a-z]+_[0-9a-z]{26}$/;

const audit = listPage({
  title: "Audit log",
  method: AdminService.method.listAuditEvents,
  rows: "events",
  params: auditSearch,
  filters: {
    project: { choice: "Project", options: useProjects },
    who: {
      typed: "Who",
      placeholder: "admin, or the id of a key or job",
      suggestion: ({ actor }) => actor,
    },
    action: {
      typed: "Action",
      placeholder: "Action, such as AdminService.CreateApiKey",
      suggestion: ({ action }) => action,
    },
    range: { span: "Done" },
  },
  columns: [
    { id: "at", title: "At", width: "136px", cell: ({ at }) => <Time at={at} /> },
    { id: "action", title: "Action", width: "minmax(200px, 2fr)", cell: ({ action }) => action },
    { id: "subject", title: "To what", width: "minmax(160px, 2fr)", cell: ({ subject }) => named(subject) },
    { id: "outcome", title: "Outcome", width: "136px", cell: ({ outcome }) => outcome },
    { id: "actor", title: "Who", width: "minmax(120px, 1fr)", cell: ({ actor }) => <Who actor={actor} /> },
    {
      id: "project",
      title: "Project",
      drop: 1,
      width: "minmax(120px, 1fr)",
      cell: ({ projectId }) => named(projectId || "deployment"),
    },
  ],
  card: auditCard,
  rowId: ({ id }) => id,
  open: ({ projectId }) => (projectId === "" ? undefined : { to: "/admin/projects/$id", params: { id: projectId } }),
  empty: () => (
    <Empty icon="check" title="No entries yet">
      <p>Changes of permissions, answers and calls that delete data are listed here.</p>
    </Empty>
  ),
  noMatch: "No entry matches",
});

/** Draws the audit log: the actions in the project and who did them, newest first. */
export default function AuditPage() {
  return <ListPage of={audit} />;
}

function useProjects() {
  const { rows } = useRows(AdminService.method.listProjects, { pageSize: 500 }, ({ projects }) => projects);
  return [anyOption, ...rows.map(({ id, name }) => ({ value: id, words: name, note: id }))];
}

/** Returns a name for display. An id is shortened to its start and its end, and its title has the whole id. Other names stay unchanged. */
function named(name: string) {
  return anId.test(name) ? <code title={name}>{shortId(name)}</code> : name;
}

/** Draws the actor of an audited action as a link. The link shows all actions of this actor. */
function Who({ actor }: { actor: string }) {
  return (
    <Link to="/admin/audit" search={(old) => ({ ...old, who: actor })}>
      {named(actor)}
    </Link>
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
