import { useQuery } from "@connectrpc/connect-query";
import { AdminService, type QuotaUsage } from "@svc/gen/admin";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useRows } from "../../calls/rows.ts";
import { useWrite } from "../../calls/write.ts";
import { hasCompanyAccounts } from "../../session/base.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Tabs } from "../../ui/layout/tabs.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { usageWord } from "../../words/usage.ts";
import { Keys } from "./keys.tsx";
import { People } from "./people.tsx";
import { quotaWords } from "./policy.ts";
import { PolicyForm } from "./policy-form.tsx";

const route = getRouteApi("/admin/projects/$id");

/** Draws one project for the administrator: its keys, its policy, its use of quotas, and the buttons that park one of its jobs. */
export default function ProjectPage() {
  const { id } = route.useParams();
  const { tab = "keys" } = route.useSearch();
  const navigate = route.useNavigate();
  // The API has no call that returns one project. Therefore pages of the list are read until the project is found.
  const list = useRows(AdminService.method.listProjects, { pageSize: 200 }, ({ projects }) => projects);
  const project = list.rows.find((one) => one.id === id);
  return (
    <Page title={project?.name ?? "Project"} back={<Link to="/admin/projects">Projects</Link>}>
      <FaultNotice error={list.error} onRetry={list.reload} />
      {list.state === "loading" && <Skeleton rows={6} />}
      {list.state === "ready" && project === undefined && (
        <Notice tone="warn" title={`Project ${id} is not in the loaded list.`}>
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
              { id: "keys", words: "Keys", panel: <Access projectId={id} /> },
              { id: "policy", words: "Policy", panel: <PolicyForm project={project} /> },
              { id: "usage", words: "Usage", panel: <Usage projectId={id} /> },
              { id: "jobs", words: "Emergency stop", panel: <ParkJob projectId={id} /> },
            ]}
          />
        </>
      )}
    </Page>
  );
}

/** Draws what gives access to a project: its keys and, if the deployment has an identity provider, its people. */
function Access({ projectId }: { projectId: string }) {
  return (
    <Stack>
      <Keys projectId={projectId} />
      {hasCompanyAccounts && <People projectId={projectId} />}
    </Stack>
  );
}

/**
 * Draws the form that parks (suspends) a harmful job or resumes a parked one. The administrator cannot list jobs, so a user of the project
 * must give the id.
 */
function ParkJob({ projectId }: { projectId: string }) {
  const [jobId, setJobId] = useState("");
  const park = useWrite(AdminService.method.parkJob, { onSuccess: () => announce("The job is stopped.") });
  const release = useWrite(AdminService.method.releaseJob, { onSuccess: () => announce("The job continues.") });
  const id = jobId.trim();
  const why = id === "" ? "Enter the job's id first" : undefined;
  return (
    <Section title="Emergency stop">
      <Stack>
        <p>
          A job that does harm is parked at once, from any node, until it is released or cancelled; its deadline runs
          on. A call that is under way is not ended.
        </p>
        <TextField label="Job id" mono autoComplete="off" placeholder="job_…" value={jobId} onChange={setJobId} />
        <Line>
          <ConfirmButton
            words="Stop"
            why={why}
            title={`Park ${id}?`}
            says="The job waits until an administrator resumes it, it is cancelled, or its deadline passes."
            confirm="Stop the job"
            busy="Parking"
            act={() => park.sendAsync({ projectId, jobId: id })}
          />
          <Button
            why={why}
            busy={release.isSending ? "Releasing" : undefined}
            onPress={() => release.send({ projectId, jobId: id })}
          >
            Resume
          </Button>
        </Line>
        <FaultNotice error={release.error} />
      </Stack>
    </Section>
  );
}

/**
 * Draws how much of its quotas the project uses. Counting is expensive for the database, so the numbers are read only when the user asks
 * for them.
 */
function Usage({ projectId }: { projectId: string }) {
  const usage = useQuery(AdminService.method.getProjectUsage, { projectId });
  const answer = usage.data;
  return (
    <Stack>
      <FaultNotice error={usage.error} onRetry={() => void usage.refetch()} />
      {usage.isPending && <Skeleton rows={9} />}
      {answer !== undefined && (
        <>
          <Section title="Quotas">
            <Items label="Quotas">
              {answer.quotas.map((quota) => (
                <QuotaItem key={quota.name} quota={quota} />
              ))}
            </Items>
          </Section>
          <Section title="Since this node started">
            <Facts
              facts={[
                ["Calls", count(answer.calls)],
                ["Posts received", count(answer.posts)],
                ["Refused, over a quota", count(answer.postsBeyond)],
                ["Node", <code key="node">{answer.nodeId}</code>],
              ]}
            />
          </Section>
        </>
      )}
    </Stack>
  );
}

function QuotaItem({ quota }: { quota: QuotaUsage }) {
  const { name, used, most, isDefault, refused } = quota;
  const words = (quotaWords as Record<string, string>)[name] ?? name;
  const bound = most === -1 ? "no limit" : `of ${count(most)}${isDefault ? ", the default" : ""}`;
  return (
    <Item title={words} actions={<State word={usageWord(quota)} />}>
      {used === -1 ? "could not be measured in time" : count(used)} {bound}
      {refused > 0 && `; this node refused ${count(refused)} for it`}
    </Item>
  );
}

function count(number: number): string {
  return number.toLocaleString("en");
}
