import { timestampMs } from "@bufbuild/protobuf/wkt";
import { callUnaryMethod, useQuery, useTransport } from "@connectrpc/connect-query";
import { type Job, JobsService } from "@svc/gen/jobs";
import { type ToolCall, ToolsService } from "@svc/gen/tools";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useEffect, useMemo, useSyncExternalStore } from "react";
import { useNow } from "../../clock.ts";
import { KeyName } from "../../session/key-name.tsx";
import { laterPart } from "../../ui/later-part.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Tabs } from "../../ui/layout/tabs.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Time } from "../../ui/values/time.tsx";
import { hasEnded } from "../../words/jobs.ts";
import { durationWords } from "../../words/time.ts";
import { figuresOf } from "./figures.ts";
import styles from "./job-body.module.css";
import { JobLink, ScheduleLink } from "./job-link.tsx";
import { createJobLog, type JobLogState } from "./job-log.ts";
import { Simulation } from "./job-sections.tsx";
import { ParkNotice } from "./park-notice.tsx";
import { allSteps, findStep, type ListedStep, readProgram } from "./program.ts";
import { JobTimeline, stepsNow } from "./timeline.tsx";
import { jobTimes, type StepsNow, workedMs } from "./timeline-rows.ts";
import { useRefreshJob } from "./use-job.ts";

const Log = laterPart(() => import("./log.tsx"));
const Compare = laterPart(() => import("./compare.tsx"));
const StepDrawer = laterPart(() => import("./step-drawer.tsx"));
const JobCalls = laterPart(async () => ({ default: (await import("./job-panels.tsx")).JobCalls }));
const ProgramPanel = laterPart(async () => ({ default: (await import("./job-panels.tsx")).ProgramPanel }));
const JobResult = laterPart(async () => ({ default: (await import("./job-panels.tsx")).JobResult }));
const JobGraph = laterPart(async () => ({ default: (await import("./job-graph.tsx")).JobGraph }));

const route = getRouteApi("/p/$projectId/jobs/$jobId");

/** Draws the content of a job's page. */
export function JobBody({ job, simulation, projectId }: { job: Job; simulation: Job | undefined; projectId: string }) {
  const { step, part, order, with: withId, folded, zoom, ...search } = route.useSearch();
  const { tab = withId === undefined ? "timeline" : "compare" } = search;
  const navigate = route.useNavigate();
  const change = (to: ReturnType<typeof route.useSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...to }), replace: true, resetScroll: false });
  const program = useMemo(() => readProgram(job.programJson), [job.programJson]);
  const known = useMemo(() => allSteps(program), [program]);
  const listed = useQuery(JobsService.method.listSteps, { jobId: job.id });
  const calls = useMappedCalls(job, known);
  const now = useMemo(() => stepsNow(job, listed.data?.steps ?? [], calls), [job, listed.data, calls]);
  const log = useJobLog(job.id, job.attempt);
  const runsSkills = known.some(({ kind, calls }) => kind === "run" || calls.some((call) => call.kind === "run"));
  const shownStep = tab === "timeline" || tab === "graph" ? findStep(program, step) : undefined;
  // Each tab of the page is one entry: its id, which the parameter `tab` of the address has, its words, and what it shows.
  const tabs = [
    {
      id: "timeline" as const,
      words: "Timeline",
      panel: (
        <>
          <FaultNotice error={listed.error} onRetry={() => void listed.refetch()} />
          {listed.isPending && <Skeleton rows={known.length} />}
          {listed.data !== undefined && (
            <JobTimeline
              job={job}
              program={program}
              now={now}
              selected={step}
              folded={folded}
              zoom={zoom}
              onChange={change}
            />
          )}
        </>
      ),
    },
    {
      id: "graph" as const,
      words: "Graph",
      panel: (
        <Suspense fallback={<Skeleton rows={6} />}>
          <JobGraph
            job={job}
            steps={listed.data?.steps ?? []}
            selected={step}
            onSelect={(id) => change({ step: id })}
          />
        </Suspense>
      ),
    },
    {
      id: "log" as const,
      words: "Log",
      panel: (
        <Suspense fallback={<Skeleton rows={4} />}>
          <Log
            log={log}
            step={step}
            stepIds={known.map(({ id }) => id)}
            newestFirst={order === "newest"}
            onChange={change}
          />
        </Suspense>
      ),
    },
    {
      id: "calls" as const,
      words: "Calls",
      panel: (
        <Suspense fallback={<Skeleton rows={4} />}>
          <JobCalls job={job} projectId={projectId} runsSkills={runsSkills} />
        </Suspense>
      ),
    },
    {
      id: "program" as const,
      words: "Program",
      panel: (
        <Suspense fallback={<Skeleton rows={4} />}>
          <ProgramPanel job={job} overridesJson={listed.data?.overridesJson ?? ""} />
        </Suspense>
      ),
    },
    {
      id: "result" as const,
      words: "Result and receipt",
      panel: (
        <Suspense fallback={<Skeleton rows={4} />}>
          <JobResult job={job} simulation={simulation} projectId={projectId} />
        </Suspense>
      ),
    },
    {
      id: "compare" as const,
      words: "Compare",
      panel: (
        <Suspense fallback={<Skeleton rows={6} />}>
          <Compare job={job} withId={withId} projectId={projectId} />
        </Suspense>
      ),
    },
    ...(simulation === undefined && job.mode !== "simulate"
      ? []
      : [{ id: "simulation" as const, words: "Not sent", panel: <Simulation jobId={(simulation ?? job).id} /> }]),
  ];
  return (
    <Stack>
      <FactsLine job={job} program={program} now={now} projectId={projectId} />
      <ParkNotice job={job} projectId={projectId} />
      <div className={styles["body"]}>
        <div className={styles["main"]}>
          <Tabs
            label="Parts of the job"
            tabs={tabs}
            selected={tab}
            onSelect={(id) => change({ tab: id === "timeline" ? undefined : id, with: undefined })}
          />
        </div>
        {shownStep !== undefined && (
          <Suspense fallback={<div className={styles["drawerRoom"]} />}>
            <StepDrawer
              key={shownStep.id}
              job={job}
              projectId={projectId}
              listed={shownStep}
              step={now.steps.get(shownStep.id)}
              receipt={now.receipts.get(shownStep.id)}
              part={part}
              onChange={change}
            />
          </Suspense>
        )}
      </div>
    </Stack>
  );
}

const noCalls: readonly ToolCall[] = [];
/** Maximum number of calls that the timeline draws. Of a job with more calls, it draws the steps alone. */
const drawnCallsMax = 200;
/** Interval in milliseconds at which the calls of an unfinished job are read again. */
const callsLookMs = 3_000;

/** Reads the calls of a job whose program has a `map`. Empty if there are more than the timeline can draw. */
function useMappedCalls(job: Job, steps: readonly ListedStep[]): readonly ToolCall[] {
  const isMapped = steps.some(({ calls }) => calls.length > 0);
  const isEnded = hasEnded(job.status);
  const { data, refetch } = useQuery(
    ToolsService.method.listToolCalls,
    { jobId: job.id, pageSize: drawnCallsMax },
    {
      enabled: isMapped,
      refetchInterval: ({ state }) => (isEnded || state.data?.nextPageToken ? false : callsLookMs),
    },
  );
  // The last answer may be older than the end of the job.
  useEffect(() => {
    if (isEnded && isMapped) void refetch();
  }, [isEnded, isMapped, refetch]);
  return data === undefined || data.nextPageToken !== "" ? noCalls : data.calls;
}

/** Draws the facts of a job in one line: when it started, how long it took and worked, who started it, and its calls and rows. */
function FactsLine({
  job,
  program,
  now,
  projectId,
}: {
  job: Job;
  program: readonly ListedStep[];
  now: StepsNow;
  projectId: string;
}) {
  const nowMs = useNow();
  const { createdAt, finishedAt, attempt } = job;
  const end = finishedAt === undefined ? nowMs : timestampMs(finishedAt);
  const worked = workedMs(jobTimes(job, program, now), end);
  const figures = new Map(figuresOf(job, undefined).map(({ name, actual }) => [name, actual]));
  const counts = [
    ["Calls", figures.get("Tool calls")],
    ["Rows", figures.get("Rows")],
  ].filter(([, count]) => count !== undefined && count !== "" && count !== "0");
  return (
    <p className={styles["facts"]}>
      <span>
        Submitted <Time at={createdAt} />
        {createdAt !== undefined && (
          <>
            , {finishedAt === undefined ? "so far" : "took"} <b>{durationWords(end - timestampMs(createdAt))}</b>
          </>
        )}
        {worked > 0 && ` (worked ${durationWords(worked)})`}
      </span>
      {attempt > 1 && (
        <span>
          Attempt <b>{attempt}</b>
        </span>
      )}
      <span>
        Started by <StartedBy job={job} projectId={projectId} />
      </span>
      {counts.map(([name, count]) => (
        <span key={name}>
          {name} <b>{count}</b>
        </span>
      ))}
    </p>
  );
}

function StartedBy({ job, projectId }: { job: Job; projectId: string }) {
  if (job.standingProgramId !== "") {
    return (
      <>
        schedule <ScheduleLink projectId={projectId} id={job.standingProgramId} />
      </>
    );
  }
  if (job.parentJobId !== "") {
    return (
      <>
        job <JobLink projectId={projectId} id={job.parentJobId} />
      </>
    );
  }
  return (
    <>
      key <KeyName id={job.submittedByKeyId} />
    </>
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
