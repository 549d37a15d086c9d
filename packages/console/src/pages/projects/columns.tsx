import type { Project } from "@svc/gen/admin";
import { Link } from "@tanstack/react-router";
import { shortId } from "../../ui/copy.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { Time } from "../../ui/time.tsx";
import { planApprovalWords } from "./policy.ts";

/** The columns of the list of projects. */
export function projectColumns(): readonly Column<Project>[] {
  return [
    { id: "name", title: "Name", width: "minmax(160px, 2fr)", cell: ({ name }) => name },
    {
      id: "approval",
      title: "Plans are approved",
      width: "minmax(160px, 1fr)",
      cell: ({ policy }) => planApprovalWords(policy?.planApproval ?? ""),
    },
    { id: "created", title: "Created", width: "160px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: "id", title: "Id", width: "136px", cell: ({ id }) => <ProjectLink id={id} /> },
  ];
}

/** A project on a phone. */
export function projectCard({ name, createdAt, policy }: Project) {
  return (
    <>
      <b>{name}</b>
      <Line apart>
        <span>plans are approved {planApprovalWords(policy?.planApproval ?? "")}</span>
        <Time at={createdAt} />
      </Line>
    </>
  );
}

function ProjectLink({ id }: { id: string }) {
  return (
    <Link to="/admin/projects/$id" params={{ id }} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  );
}
