import { getRouteApi, Link } from "@tanstack/react-router";
import { Page } from "../../ui/layout/page.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { State } from "../../ui/values/state.tsx";
import { jobStatusWord } from "../../words/jobs.ts";
import { JobBody } from "./job-body.tsx";
import { JobButtons } from "./job-buttons.tsx";
import { jobTitle } from "./job-words.ts";
import { useJob } from "./use-job.ts";

const route = getRouteApi("/p/$projectId/jobs/$jobId");

/** One job: what it waits for, its steps, its log as it is written, and its account. */
export default function JobPage() {
  const { projectId, jobId } = route.useParams();
  const found = useJob(jobId);
  const job = found.data?.job;
  return (
    <Page
      title={job === undefined ? "Job" : jobTitle(job)}
      tab={`Job ${jobId}`}
      state={job !== undefined && <State word={jobStatusWord(job.status)} />}
      actions={job !== undefined && <JobButtons job={job} projectId={projectId} />}
      back={
        <Link to="/p/$projectId/jobs" params={{ projectId }}>
          Jobs
        </Link>
      }
    >
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {job !== undefined && <JobBody job={job} simulation={found.data?.simulation} projectId={projectId} />}
    </Page>
  );
}
