import { getRouteApi, Link } from "@tanstack/react-router";
import { Page } from "../../ui/layout/page.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { prettyJson } from "../../words/pretty-json.ts";
import { useJob } from "../jobs/use-job.ts";
import { exampleProgram } from "./example.ts";
import { ProgramEditor } from "./program-editor.tsx";

const route = getRouteApi("/p/$projectId/programs/new");

/** A new program, begun with that of a job or with an example: written, checked as it is written, simulated and submitted. */
export default function NewProgramPage() {
  const { projectId } = route.useParams();
  const { from } = route.useSearch();
  return (
    <Page
      title="New program"
      back={
        <Link to="/p/$projectId/jobs" params={{ projectId }}>
          Jobs
        </Link>
      }
    >
      {from === undefined ? (
        <ProgramEditor initial={exampleProgram} projectId={projectId} />
      ) : (
        <FromJob key={from} jobId={from} projectId={projectId} />
      )}
    </Page>
  );
}

/** The program of a job to begin with; it is read once, so that nothing moves while it is changed. */
function FromJob({ jobId, projectId }: { jobId: string; projectId: string }) {
  const found = useJob(jobId);
  const job = found.data?.job;
  return (
    <>
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {job !== undefined && <ProgramEditor initial={prettyJson(job.programJson)} projectId={projectId} />}
    </>
  );
}
