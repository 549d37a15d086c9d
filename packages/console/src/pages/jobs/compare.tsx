import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { type Job, JobStatus, type JobStep, JobsService, JobView } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useNow } from "../../clock.ts";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Table } from "../../ui/rows/table.tsx";
import { shortId } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { jobStatusWord, stepNowWord } from "../../words/jobs.ts";
import { durationWords } from "../../words/time.ts";
import styles from "./compare.module.css";
import { alignedSteps, changedTools, lineChanges, type StepPair } from "./compare-runs.ts";
import { rowsWords, stepMs } from "./timeline-rows.ts";

/** Number of jobs with the same program that are offered for a comparison. */
const offered = 20;

/**
 * Draws a job next to another one, step by step: state, time, rows, calls and errors. `withId`: id of the other job. Default: the newest job
 * with the same program that succeeded, or else of the same schedule.
 */
export default function Compare({
  job,
  withId,
  projectId,
}: {
  job: Job;
  withId: string | undefined;
  projectId: string;
}) {
  const summary = { view: JobView.SUMMARY, mode: "live", pageSize: offered };
  const others = useQuery(JobsService.method.listJobs, { ...summary, programHash: job.programHash });
  const ofSchedule = useQuery(
    JobsService.method.listJobs,
    { ...summary, standingProgramId: job.standingProgramId, statuses: [JobStatus.SUCCEEDED] },
    { enabled: job.standingProgramId !== "" },
  );
  const found = (others.data?.jobs ?? []).filter(({ id }) => id !== job.id);
  const sameSchedule = (ofSchedule.data?.jobs ?? []).filter(({ id }) => id !== job.id);
  const partner = found.find(({ status }) => status === JobStatus.SUCCEEDED) ?? sameSchedule[0] ?? found[0];
  const otherId = withId ?? partner?.id;
  const isPending = others.isPending || (job.standingProgramId !== "" && ofSchedule.isPending);
  return (
    <Stack>
      <FaultNotice error={others.error} onRetry={() => void others.refetch()} />
      {otherId === undefined && isPending && <Skeleton rows={4} />}
      {otherId === undefined && !isPending && (
        <Notice tone="info" title="There is no other job with this program to compare" />
      )}
      {otherId !== undefined && <Comparison key={otherId} job={job} otherId={otherId} projectId={projectId} />}
      {found.length > 0 && (
        <Section title="Other jobs with this program">
          <ul className={styles["others"]}>
            {found.map(({ id, status, createdAt }) => (
              <li key={id}>
                <Link
                  to="/p/$projectId/jobs/$jobId"
                  params={{ projectId, jobId: job.id }}
                  search={{ with: id }}
                  aria-current={id === otherId ? "true" : undefined}
                >
                  <code>{shortId(id)}</code>
                </Link>{" "}
                <State word={jobStatusWord(status)} /> <Time at={createdAt} />
              </li>
            ))}
          </ul>
        </Section>
      )}
    </Stack>
  );
}

function Comparison({ job, otherId, projectId }: { job: Job; otherId: string; projectId: string }) {
  const now = useNow();
  const read = useQuery(JobsService.method.getJob, { id: otherId });
  const steps = useQuery(JobsService.method.listSteps, { jobId: job.id });
  const otherSteps = useQuery(JobsService.method.listSteps, { jobId: otherId });
  const other = read.data?.job;
  const error = read.error ?? steps.error ?? otherSteps.error;
  if (error !== null) return <FaultNotice error={error} onRetry={() => void read.refetch()} />;
  if (other === undefined || steps.data === undefined || otherSteps.data === undefined) return <Skeleton rows={6} />;
  const pairs = alignedSteps({ job, steps: steps.data.steps }, { job: other, steps: otherSteps.data.steps });
  const changes = job.programHash === other.programHash ? [] : lineChanges(job.programJson, other.programJson);
  const tools = changedTools(job, other);
  return (
    <>
      <Line>
        <span>
          This job: <State word={jobStatusWord(job.status)} /> {tookWords(job, now)}
        </span>
        <span>
          Compared with{" "}
          <Link to="/p/$projectId/jobs/$jobId" params={{ projectId, jobId: other.id }}>
            <code>{shortId(other.id)}</code>
          </Link>
          : <State word={jobStatusWord(other.status)} /> {tookWords(other, now)}
        </span>
      </Line>
      <Table
        label="Steps of both jobs"
        head={["Step", "This job", "Other job", "Took", "Other took", "Rows", "Other rows", "Calls", "Other calls"]}
        rows={pairs.map((pair) => ({ id: pair.stepId, cells: cellsOf(pair, now) }))}
      />
      {tools.length > 0 && (
        <Section title="Tools that changed">
          <ul>
            {tools.map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </Section>
      )}
      {changes.length > 0 && (
        <Section title="Differences of the programs">
          <pre className={styles["changes"]}>
            {changes.map(({ id, sign, line }) => (
              <span key={id} className={sign === "+" ? styles["added"] : styles["removed"]}>
                {`${sign} ${line}\n`}
              </span>
            ))}
          </pre>
        </Section>
      )}
    </>
  );
}

function tookWords({ createdAt, finishedAt }: Job, now: number): string {
  if (createdAt === undefined) return "";
  return durationWords((finishedAt === undefined ? now : timestampMs(finishedAt)) - timestampMs(createdAt));
}

function cellsOf({ stepId, mine, theirs }: StepPair, now: number): ReactNode[] {
  const both = [mine, theirs];
  const states = both.map((side) =>
    side === undefined ? (
      "no such step"
    ) : (
      <span key="state" title={side.errors.join("\n")}>
        <State word={stepNowWord(side.step)} /> {side.errors[0]}
      </span>
    ),
  );
  const took = both.map((side) => (side?.step.startedAt === undefined ? "" : durationWords(stepMs(side.step, now))));
  const rows = both.map((side) => rowsWords(side?.step, side?.receipt));
  const calls = both.map((side) => callsOf(side?.step));
  return [
    <code key="id">{stepId}</code>,
    ...states,
    ...took,
    ...[rows, calls].flatMap(([one, other]) => [one, one === other ? other : <b key="differs">{other}</b>]),
  ];
}

function callsOf(step: JobStep | undefined): string {
  const { read = 0, write = 0, destructive = 0 } = step?.calls ?? {};
  const count = read + write + destructive;
  return count === 0 ? "" : count.toLocaleString("en");
}
