import type { Job } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";
import { shortId } from "../../ui/copy.tsx";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { jobStatusWord } from "../../words/jobs.ts";
import { jobTitle, jobWhy } from "./job-words.ts";

/** The columns of the list of jobs. */
export function jobColumns(projectId: string): readonly Column<Job>[] {
  return [
    { id: "created", title: "Submitted", width: "136px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: "title", title: "Title", width: "minmax(160px, 3fr)", cell: (job) => jobTitle(job) },
    { id: "status", title: "Status", width: "184px", cell: ({ status }) => <State word={jobStatusWord(status)} /> },
    { id: "why", title: "Reason", width: "minmax(140px, 2fr)", cell: (job) => jobWhy(job) },
    { id: "mode", title: "Mode", width: "88px", cell: ({ mode }) => mode },
    { id: "id", title: "Id", width: "136px", cell: ({ id }) => <JobLink projectId={projectId} id={id} /> },
  ];
}

/** A job on a phone. */
export function jobCard(job: Job) {
  return (
    <>
      <b>{jobTitle(job)}</b>
      <Line apart>
        <State word={jobStatusWord(job.status)} />
        <Time at={job.createdAt} />
      </Line>
    </>
  );
}

/** The id of a job, short, as a link to its page. */
export function JobLink({ projectId, id }: { projectId: string; id: string }) {
  return (
    <Link to="/p/$projectId/jobs/$jobId" params={{ projectId, jobId: id }} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  );
}
