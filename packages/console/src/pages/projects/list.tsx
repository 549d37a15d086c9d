import { useQuery } from "@connectrpc/connect-query";
import { AdminService, type Restore } from "@svc/gen/admin";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useRefresh } from "../../calls/write.ts";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { listSearch } from "../../frame/list-search.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Time } from "../../ui/values/time.tsx";
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
      title: "Approve programs",
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
        <span>approve programs: {planApprovalWords(policy?.planApproval ?? "")}</span>
        <Time at={createdAt} />
      </Line>
    </>
  ),
  rowId: ({ id }) => id,
  open: ({ id }) => ({ to: "/admin/projects/$id", params: { id } }),
  empty: () => <Empty icon="project" title="No projects yet" />,
});

/** Draws every project of the deployment, newest first. */
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

/** Draws the dialog that creates a project. It then opens the page of the project's keys, because a project without keys cannot be used. */
function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const refresh = useRefresh(AdminService);
  return (
    <WriteDialog
      method={AdminService.method.createProject}
      title="Create a project"
      fields={{
        name: {
          text: "Name",
          required: true,
          autoComplete: "off",
          hint: "1 to 100 characters. No other project may have the name. The new project has the default policy and a person named owner.",
        },
      }}
      request={(values) => values}
      act="Create the project"
      busy="Creating"
      onClose={onClose}
      done={async ({ project }) => {
        await refresh();
        if (project !== undefined) void navigate({ to: "/admin/projects/$id", params: { id: project.id } });
      }}
    />
  );
}

/**
 * Draws a notice if the database was restored from a backup and is on hold: it says what waits, and how to continue. Draws nothing
 * otherwise.
 */
function HeldStore() {
  const found = useQuery(AdminService.method.getRestore, {});
  const [isAsked, setAsked] = useState(false);
  const restore = found.data?.restore;
  if (found.error !== null) return <FaultNotice error={found.error} onRetry={() => void found.refetch()} />;
  if (restore === undefined || restore.resumedAt !== undefined) return null;
  return (
    <>
      <Notice
        tone="warn"
        icon="pause"
        title="The database was restored from a backup. svc sends nothing until you resume it"
        actions={<Button onPress={() => setAsked(true)}>Resume</Button>}
      >
        <p>
          It contains everything until <Time at={restore.backupEndsAt} />. svc accepts posts and calls;{" "}
          {waiting(restore)} wait.
        </p>
      </Notice>
      {isAsked && <ResumeDialog restore={restore} onClose={() => setAsked(false)} />}
    </>
  );
}

function ResumeDialog({ restore, onClose }: { restore: Restore; onClose: () => void }) {
  const refresh = useRefresh(AdminService);
  return (
    <WriteDialog
      method={AdminService.method.resumeRestored}
      title="Resume the restored service?"
      fields={{
        nothingSince: {
          check: "The old service did nothing after the end of the backup",
          hint: "Check this only if the old service was stopped before the backup ended. Otherwise it may have sent writes that the backup does not show. Then svc asks a person about each of them.",
        },
      }}
      request={(values) => values}
      keep="Cancel"
      act="Resume"
      busy="Resuming"
      kind="danger"
      onClose={onClose}
      done={async () => {
        announce("The service continues.");
        onClose();
        await refresh();
      }}
    >
      <p>{`All nodes then continue waiting work, ${waiting(restore)}, and start schedules. Deliveries keep their ids.`}</p>
    </WriteDialog>
  );
}

function waiting({ deliveries, jobs }: Restore): string {
  return `${counted(deliveries, "delivery", "deliveries")} and ${counted(jobs, "job", "jobs")}`;
}

function counted(count: number, one: string, more: string): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : more}`;
}
