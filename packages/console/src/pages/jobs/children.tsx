import { JobsService, JobView } from "@svc/gen/jobs";
import { useRows } from "../../calls/rows.ts";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { ListStates } from "../../ui/rows/list-states.tsx";
import { LoadMore } from "../../ui/rows/load-more.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { jobStatusWord } from "../../words/jobs.ts";
import { JobLink } from "./job-link.tsx";
import { jobTitle } from "./job-words.ts";

const lookMs = 3_000;

/** The jobs that a job runs as skills. */
export function Children({ jobId, projectId, isOver }: { jobId: string; projectId: string; isOver: boolean }) {
  const list = useRows(
    JobsService.method.listJobs,
    { parentJobId: jobId, view: JobView.SUMMARY, pageSize: 50 },
    ({ jobs }) => jobs,
    isOver ? {} : { refetchMs: lookMs },
  );
  return (
    <Section title="Jobs that it runs">
      <ListStates list={list} empty={<p>None was begun yet.</p>} skeletonRows={2}>
        <Stack tight>
          {list.rows.map((job) => (
            <Line key={job.id} apart>
              <Line>
                <State word={jobStatusWord(job.status)} />
                {jobTitle(job)}
              </Line>
              <Line>
                <Time at={job.createdAt} />
                <JobLink projectId={projectId} id={job.id} />
              </Line>
            </Line>
          ))}
        </Stack>
      </ListStates>
      <LoadMore list={list} />
    </Section>
  );
}
