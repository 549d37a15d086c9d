import { AdminService } from "@svc/gen/admin";
import { useState } from "react";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { listSearch } from "../../frame/list-search.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { Time } from "../../ui/values/time.tsx";
import { CreateProjectDialog } from "./create-project-dialog.tsx";
import { HeldStore } from "./held-store.tsx";
import { planApprovalWords } from "./policy.ts";

const projects = listPage({
  title: "Projects",
  method: AdminService.method.listProjects,
  rows: "projects",
  params: listSearch({}, {}, () => ({ pageSize: 200 })),
  actions: CreateProject,
  notes: HeldStore,
  columns: [
    { id: "name", title: "Name", width: "minmax(160px, 2fr)", cell: ({ name }) => name },
    {
      id: "approval",
      title: "Plans are approved",
      width: "minmax(160px, 1fr)",
      cell: ({ policy }) => planApprovalWords(policy?.planApproval ?? ""),
    },
    { id: "created", title: "Created", width: "160px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    "id",
  ],
  card: ({ name, createdAt, policy }) => (
    <>
      <b>{name}</b>
      <Line apart>
        <span>plans are approved {planApprovalWords(policy?.planApproval ?? "")}</span>
        <Time at={createdAt} />
      </Line>
    </>
  ),
  rowId: ({ id }) => id,
  open: ({ id }) => ({ to: "/admin/projects/$id", params: { id } }),
  empty: () => <Empty icon="project" title="No projects yet" />,
});

/** Every project of the deployment, newest first. */
export default function ProjectsPage() {
  return <ListPage of={projects} />;
}

function CreateProject() {
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <Button icon="plus" onPress={() => setCreating(true)}>
        Create a project
      </Button>
      {isCreating && <CreateProjectDialog onClose={() => setCreating(false)} />}
    </>
  );
}
