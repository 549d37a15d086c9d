import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Job, JobOriginKind, JobStatus, JobsService } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";

import { useNow } from "../../clock.ts";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { KeyName } from "../../session/key-name.tsx";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { ToggleButton } from "../../ui/buttons/toggle-button.tsx";
import { anyOf } from "../../ui/fields/choice.tsx";
import { laterPart } from "../../ui/later-part.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { hasEnded, jobStatuses, jobStatusOf, jobStatusWord } from "../../words/jobs.ts";
import { parkWords } from "../../words/park.ts";
import { durationWords } from "../../words/time.ts";
import { labelOf } from "../../words/word.ts";
import { isListed, jobsSearch, presets, statusesOf } from "./filters.ts";
import { JobLink, ScheduleLink } from "./job-link.tsx";
import { jobTitle } from "./job-words.ts";
import { StepsBar } from "./steps-bar.tsx";

const BulkBar = laterPart(() => import("./bulk-bar.tsx"));

const words = { running: "Running", waiting: "Waiting for a person", failed: "Failed" } as const;

const jobs = listPage({
  title: "Jobs",
  method: JobsService.method.listJobs,
  rows: "jobs",
  params: jobsSearch,
  everyMs: 3_000,
  keep: isListed,
  actions: ({ projectId }) => (
    <Link to="/p/$projectId/programs/new" params={{ projectId }} className={buttonClass("primary")}>
      New program
    </Link>
  ),
  tabs: [
    { words: "All", sets: { preset: undefined, status: undefined } },
    ...presets.map((preset) => ({ words: words[preset], sets: { preset, status: undefined } })),
  ],
  filters: {
    title: { typed: "Title", short: true },
    status: {
      choice: "Status",
      options: anyOf(jobStatuses.map(jobStatusWord)),
      also: { preset: undefined },
    },
    origin: {
      choice: "Started by",
      options: [
        { value: "", words: "any" },
        { value: "key", words: "a key" },
        { value: "schedule", words: "a schedule" },
        { value: "skill", words: "a saved tool" },
      ],
    },
    mode: { choice: "Mode", options: anyOf(["live", "simulate", "rehearse"]) },
    range: { span: "Submitted" },
    skill: ({ search, change }) => only(search.skill, () => change({ skill: undefined })),
    failure: ({ search, change }) => only(search.failure && "One failure", () => change({ failure: undefined })),
    program: ({ search, change }) => only(search.program && "One program", () => change({ program: undefined })),
  },
  histogram: {
    series: "jobs",
    counts: "Jobs that ended",
    listTime: "submission",
    outcome: (outcome) => labelOf(jobStatusWord(jobStatusOf(outcome) ?? JobStatus.UNSPECIFIED)).toLowerCase(),
    of: (search) => {
      const statuses = statusesOf(search);
      return statuses.length === 0 ? {} : { has: (outcome) => statuses.some((one) => one === jobStatusOf(outcome)) };
    },
    ignores: {
      ...{ title: "title", origin: "origin", mode: "mode", skill: "saved tool" },
      ...{ failure: "failure", program: "program" },
    },
  },
  columns: ({ projectId }) => [
    { id: "title", title: "Title", width: "minmax(136px, 2fr)", linked: (job) => jobTitle(job) },
    {
      id: "state",
      title: "State and cause",
      width: "minmax(184px, 3fr)",
      cell: (job) => (
        <span title={jobWhy(job)}>
          <State word={jobStatusWord(job.status)} /> {jobWhy(job)}
        </span>
      ),
    },
    { id: "steps", title: "Steps", width: "88px", cell: (job) => <StepsBar job={job} /> },
    {
      id: "by",
      title: "Started by",
      width: "minmax(88px, 1fr)",
      cell: (job) => <StartedBy job={job} projectId={projectId} />,
    },
    { id: "took", title: "Took", width: "72px", cell: (job) => <Took job={job} /> },
    { id: "created", title: "Time", width: "128px", cell: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  card: (job) => (
    <>
      <b>{jobTitle(job)}</b>
      <Line apart>
        <State word={jobStatusWord(job.status)} />
        <Time at={job.createdAt} />
      </Line>
    </>
  ),
  rowId: ({ id }) => id,
  open: ({ id }, projectId) => ({ to: "/p/$projectId/jobs/$jobId", params: { projectId, jobId: id } }),
  bulk: (part) => <BulkBar {...part} />,
  empty: NoJobs,
  noMatch: "No job matches",
});

/** Draws the jobs of the project, newest first. */
export default function JobsPage() {
  return <ListPage of={jobs} />;
}

function only(shown: string | undefined, onClear: () => void) {
  return (
    shown !== undefined &&
    shown !== "" && (
      <ToggleButton on onPress={onClear}>
        {shown}
      </ToggleButton>
    )
  );
}

function NoJobs() {
  return (
    <Empty icon="job" title="No jobs yet">
      <p>A job runs a program of many calls to its end, also if the service restarts. Submit one:</p>
      <CodeBlock text="npx svc jobs submit docs/examples/count-deals.json" />
      <p>Or write one here with New program.</p>
    </Empty>
  );
}

/** Draws who or what started a job. */
function StartedBy({ job: { origin, submittedByKeyId }, projectId }: { job: Job; projectId: string }) {
  const { kind, id = "", title = "" } = origin ?? {};
  switch (kind) {
    case JobOriginKind.SCHEDULE:
      return <ScheduleLink projectId={projectId} id={id} words={title || id} />;
    case JobOriginKind.JOB:
      return <JobLink projectId={projectId} id={id} />;
    case JobOriginKind.SKILL:
      return <span>{id}</span>;
    default:
      return <KeyName id={submittedByKeyId} />;
  }
}

/** Draws the time from the submission of a job to its end, or until now. */
function Took({ job: { createdAt, finishedAt } }: { job: Job }) {
  const now = useNow();
  if (createdAt === undefined) return null;
  return (
    <span>{durationWords((finishedAt === undefined ? now : timestampMs(finishedAt)) - timestampMs(createdAt))}</span>
  );
}

/** Returns what a job waits for, or why it failed. Empty if neither applies. */
function jobWhy({
  park,
  failure,
  lastError,
  pausedAt,
  status,
}: Pick<Job, "park" | "failure" | "lastError" | "pausedAt" | "status">): string {
  if (failure !== undefined) return failure.title;
  if (park !== undefined) {
    const { title } = parkWords(park.reason);
    return park.judgment?.question ?? title;
  }
  if (pausedAt !== undefined && !hasEnded(status)) return "Pausing when the running calls have finished";
  return lastError;
}
