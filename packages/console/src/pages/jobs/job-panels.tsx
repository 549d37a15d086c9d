import { type Job, type JobAttempt, JobsService, JobView, type Saga } from "@svc/gen/jobs";
import { useRows } from "../../calls/rows.ts";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Columns } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { Table } from "../../ui/rows/table.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { hasEnded, jobStatusWord, undoWord } from "../../words/jobs.ts";
import { FiguresSection } from "./figures-section.tsx";
import { JobLink } from "./job-link.tsx";
import { JobFacts } from "./job-sections.tsx";
import { jobTitle } from "./job-words.ts";
import { ReceiptFacts, ReceiptSection } from "./receipt-section.tsx";
import { CallList, useJobCalls } from "./step-drawer.tsx";

const lookMs = 3_000;

/** Draws the calls of a job, and the jobs that it started. `runsSkills`: true if the program of the job starts other jobs. */
export function JobCalls({ job, projectId, runsSkills }: { job: Job; projectId: string; runsSkills: boolean }) {
  const list = useJobCalls(job.id);
  return (
    <Stack>
      {runsSkills && <Children jobId={job.id} projectId={projectId} isOver={hasEnded(job.status)} />}
      <ListStates list={list} empty={<p>The job has made no calls.</p>} skeletonRows={4}>
        <CallList calls={list.rows} projectId={projectId} withStep />
      </ListStates>
      <LoadMore list={list} />
    </Stack>
  );
}

/** Draws the program of a job, and the values that answers and retries changed in it. */
export function ProgramPanel({ job, overridesJson }: { job: Job; overridesJson: string }) {
  return (
    <Stack>
      <Section title="Program">
        <JsonView text={job.programJson} label="program" />
      </Section>
      {overridesJson !== "" && (
        <Section title="Changes by answers and retries">
          <JsonView text={overridesJson} label="changes" />
        </Section>
      )}
    </Stack>
  );
}

/** Draws the result of a job, its receipt (final report), its usage and limits, its earlier attempts, its undo entries, and its facts. */
export function JobResult({
  job,
  simulation,
  projectId,
}: {
  job: Job;
  simulation: Job | undefined;
  projectId: string;
}) {
  return (
    <Columns>
      <Stack>
        {job.receipt === undefined ? (
          <p>The job has no receipt yet. svc writes it when the job ends.</p>
        ) : (
          <ReceiptSection job={job} receipt={job.receipt} projectId={projectId} />
        )}
        {job.saga !== undefined && job.saga.entries > 0 && <UndoEntries jobId={job.id} saga={job.saga} />}
        {job.attempts.length > 0 && <Attempts attempts={job.attempts} />}
      </Stack>
      <Stack>
        <FiguresSection job={job} simulation={simulation} />
        <JobFacts job={job} projectId={projectId} />
      </Stack>
    </Columns>
  );
}

/** Draws the undo calls of a job, planned or done. The undo of the last call comes first. */
function UndoEntries({ jobId, saga }: { jobId: string; saga: Saga }) {
  const list = useRows(JobsService.method.listUndoEntries, { jobId, pageSize: 100 }, ({ entries }) => entries);
  return (
    <Section title={`Undo entries, ${saga.state}`}>
      <p>
        {saga.entries} recorded, {saga.done} undone{saga.failed > 0 && `, ${saga.failed} not`}. Newest first.
      </p>
      <ListStates list={list} empty={<p>The details were deleted with the data of the job.</p>} skeletonRows={2}>
        <Table
          label="Undo entries"
          head={["Entry", "Step", "Row", "Undone by", "User", "State"]}
          rows={list.rows.map(({ entry, stepId, ordinal, toolSlug, entityId, state }) => ({
            id: String(entry),
            cells: [entry, stepId, ordinal, toolSlug, entityId, <State key="state" word={undoWord(state)} />],
          }))}
        />
      </ListStates>
      <LoadMore list={list} />
    </Section>
  );
}

/** Draws the earlier attempts of a job. Each attempt has its own receipt (stored summary of a job), which does not change any more. */
function Attempts({ attempts }: { attempts: readonly JobAttempt[] }) {
  return (
    <Section title="Attempts before">
      <ul>
        {attempts.map(({ attempt, status, finishedAt, lastError, receipt, retryKeyId }) => (
          <li key={attempt}>
            <Disclosure
              summary={
                <>
                  <b>Attempt {attempt}</b>
                  <State word={jobStatusWord(status)} />
                  <Time at={finishedAt} />
                </>
              }
            >
              {lastError !== "" && <p>{lastError}</p>}
              {receipt !== undefined && <ReceiptFacts receipt={receipt} />}
              <p>Started by key {retryKeyId}.</p>
            </Disclosure>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Draws the child jobs of a job: the jobs that run the skills which its program calls. */
function Children({ jobId, projectId, isOver }: { jobId: string; projectId: string; isOver: boolean }) {
  const list = useRows(
    JobsService.method.listJobs,
    { parentJobId: jobId, view: JobView.SUMMARY, pageSize: 50 },
    ({ jobs }) => jobs,
    isOver ? {} : { refetchMs: lookMs },
  );
  return (
    <Section title="Jobs started by this job">
      <ListStates list={list} empty={<p>None yet.</p>} skeletonRows={2}>
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
