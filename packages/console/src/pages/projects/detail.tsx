import { AdminService } from "@svc/gen/admin";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { Page } from "../../ui/layout/page.tsx";
import { Tabs } from "../../ui/layout/tabs.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";
import { Keys } from "./keys.tsx";
import { ParkJob } from "./park-job.tsx";
import { PolicyForm } from "./policy-form.tsx";
import { Usage } from "./usage.tsx";

const route = getRouteApi("/admin/projects/$id");

/** One project as the administrator has it: keys, policy, use of its quotas, and the way to hold one of its jobs. */
export default function ProjectPage() {
  const { id } = route.useParams();
  const { tab = "keys" } = route.useSearch();
  const navigate = route.useNavigate();
  // There is no call for one project: the list is read until it is there.
  const list = useRows(AdminService.method.listProjects, { pageSize: 200 }, ({ projects }) => projects);
  const project = list.rows.find((one) => one.id === id);
  return (
    <Page title={project?.name ?? "Project"} back={<Link to="/admin/projects">Projects</Link>}>
      <FaultNotice error={list.error} onRetry={list.reload} />
      {list.state === "loading" && <Skeleton rows={6} />}
      {list.state === "ready" && project === undefined && (
        <Notice tone="warn" title={`No project ${id} is among those that are loaded.`}>
          {list.hasMore && (
            <button type="button" onClick={list.loadMore}>
              Load more projects
            </button>
          )}
        </Notice>
      )}
      {project !== undefined && (
        <>
          <Facts
            facts={[
              ["Id", <Copyable key="id" text={project.id} what="id" />],
              ["Created", <Time key="created" at={project.createdAt} />],
            ]}
          />
          <Tabs
            label="Project"
            selected={tab}
            onSelect={(to) => void navigate({ search: { tab: to }, replace: true })}
            tabs={[
              { id: "keys", words: "Keys", panel: <Keys projectId={id} /> },
              { id: "policy", words: "Policy", panel: <PolicyForm project={project} /> },
              { id: "usage", words: "Usage", panel: <Usage projectId={id} /> },
              { id: "jobs", words: "Hold a job", panel: <ParkJob projectId={id} /> },
            ]}
          />
        </>
      )}
    </Page>
  );
}
