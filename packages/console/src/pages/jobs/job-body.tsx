import { timestampMs } from "@bufbuild/protobuf/wkt";
import { callUnaryMethod, useQuery, useTransport } from "@connectrpc/connect-query";
import { type Job, type JobAttempt, JobsService, JobView, type Saga } from "@svc/gen/jobs";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useSyncExternalStore } from "react";
import { useRows } from "../../calls/rows.ts";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Columns } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Tabs } from "../../ui/layout/tabs.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { Table } from "../../ui/rows/table.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { hasEnded, jobStatusWord, undoWord } from "../../words/jobs.ts";
import { FiguresSection } from "./figures-section.tsx";
import { JobLink } from "./job-link.tsx";
import { createJobLog, type JobLogState } from "./job-log.ts";
import { JobFacts, Simulation } from "./job-sections.tsx";
import { jobTitle } from "./job-words.ts";
import { ParkNotice } from "./park-notice.tsx";
import { allSteps, readProgram } from "./program.ts";
import { ReceiptFacts, ReceiptSection } from "./receipt-section.tsx";
import { Steps } from "./steps.tsx";
import { useRefreshJob } from "./use-job.ts";

const lookMs = 3_000;

const Log = lazy(() => import("./log.tsx"));

const route = getRouteApi("/p/$projectId/jobs/$jobId");

/** Draws the content of a job's page. */
export function JobBody({ job, simulation, projectId }: { job: Job; simulation: Job | undefined; projectId: string }) {
  const { step, order, tab } = route.useSearch();
  const navigate = route.useNavigate();
  const change = (to: ReturnType<typeof route.useSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...to }), replace: true, resetScroll: false });
  const program = useMemo(() => readProgram(job.programJson), [job.programJson]);
  const known = useMemo(() => allSteps(program), [program]);
  const steps = useQuery(JobsService.method.listSteps, { jobId: job.id });
  const log = useJobLog(job.id, job.attempt);
  const runsSkills = known.some(({ kind, calls }) => kind === "run" || calls.some((call) => call.kind === "run"));
  const logPanel = (
    <Suspense fallback={<Skeleton rows={4} />}>
      <Log
        log={log}
        step={step}
        stepIds={known.map(({ id }) => id)}
        newestFirst={order === "newest"}
        onChange={change}
      />
    </Suspense>
  );
  const tabs = [
    { id: "log" as const, words: "Log", panel: logPanel },
    {
      id: "program" as const,
      words: "Program",
      panel: <ProgramPanel job={job} overridesJson={steps.data?.overridesJson ?? ""} />,
    },
    ...(simulation === undefined && job.mode !== "simulate"
      ? []
      : [{ id: "simulation" as const, words: "Not sent", panel: <Simulation jobId={(simulation ?? job).id} /> }]),
  ];
  return (
    <Stack>
      <ParkNotice job={job} projectId={projectId} />
      <Columns>
        <Stack>
          <Section title="Steps">
            <FaultNotice error={steps.error} onRetry={() => void steps.refetch()} />
            {steps.isPending && <Skeleton rows={known.length} />}
            {steps.data !== undefined && (
              <Steps
                program={program}
                steps={steps.data.steps}
                receipts={job.stepReceipts}
                endedAt={job.finishedAt === undefined ? undefined : timestampMs(job.finishedAt)}
                selected={step}
                onSelect={(id) => change({ step: id })}
              />
            )}
          </Section>
          <Tabs
            label="More details"
            tabs={tabs}
            selected={tab ?? "log"}
            onSelect={(id) => change({ tab: id === "log" ? undefined : id })}
          />
        </Stack>
        <Stack>
          {job.receipt !== undefined && <ReceiptSection job={job} receipt={job.receipt} projectId={projectId} />}
          <FiguresSection job={job} simulation={simulation} />
          {job.attempts.length > 0 && <Attempts attempts={job.attempts} />}
          {job.saga !== undefined && job.saga.entries > 0 && <UndoEntries jobId={job.id} saga={job.saga} />}
          {runsSkills && <Children jobId={job.id} projectId={projectId} isOver={hasEnded(job.status)} />}
          <JobFacts job={job} projectId={projectId} />
        </Stack>
      </Columns>
    </Stack>
  );
}

function ProgramPanel({ job, overridesJson }: { job: Job; overridesJson: string }) {
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

/**
 * Returns the live log of a job. If `attempt` changes, the log is opened again, because a log that has ended continues with the next
 * attempt.
 */
function useJobLog(jobId: string, attempt: number): JobLogState {
  const transport = useTransport();
  const refresh = useRefreshJob(jobId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt continues a log that had ended
  const log = useMemo(
    () =>
      createJobLog(transport, jobId, {
        onEntries: refresh,
        isOver: async () => {
          const { job } = await callUnaryMethod(transport, JobsService.method.getJob, { id: jobId });
          return job === undefined || hasEnded(job.status);
        },
      }),
    [transport, jobId, refresh, attempt],
  );
  return useSyncExternalStore(log.subscribe, log.read);
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
