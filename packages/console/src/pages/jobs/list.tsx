import { type Job, JobsService } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { ToggleButton } from "../../ui/buttons/toggle-button.tsx";
import { anyOf } from "../../ui/fields/choice.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { hasEnded, jobStatuses, jobStatusWord } from "../../words/jobs.ts";
import { parkWords } from "../../words/park.ts";
import { isListed, jobsSearch, type Preset, presets } from "./filters.ts";
import { jobTitle } from "./job-words.ts";

const words: Record<Preset, string> = { waiting: "Waiting for a person", running: "Running", failed: "Failed" };

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
  filters: {
    // Presets come first because they are used most.
    preset: ({ search, change }) =>
      presets.map((preset) => (
        <ToggleButton
          key={preset}
          on={search.preset === preset}
          onPress={() => change({ preset: search.preset === preset ? undefined : preset, status: undefined })}
        >
          {presetWords(preset)}
        </ToggleButton>
      )),
    title: { typed: "Title", short: true },
    status: {
      choice: "Status",
      options: anyOf(jobStatuses.map(jobStatusWord)),
      also: { preset: undefined },
    },
    mode: { choice: "Mode", options: anyOf(["live", "simulate", "rehearse"]) },
    range: { span: "Submitted" },
    skill: ({ search, change }) =>
      search.skill !== undefined && (
        <ToggleButton on onPress={() => change({ skill: undefined })}>
          {search.skill}
        </ToggleButton>
      ),
  },
  columns: [
    { id: "created", title: "Submitted", width: "136px", cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: "title", title: "Title", width: "minmax(160px, 3fr)", cell: (job) => jobTitle(job) },
    { id: "status", title: "Status", width: "184px", cell: ({ status }) => <State word={jobStatusWord(status)} /> },
    { id: "why", title: "Reason", width: "minmax(140px, 2fr)", cell: (job) => jobWhy(job) },
    { id: "mode", title: "Mode", width: "88px", cell: ({ mode }) => mode },
    "id",
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
  empty: NoJobs,
  noMatch: "No job matches",
});

/** Draws the jobs of the project, newest first. */
export default function JobsPage() {
  return <ListPage of={jobs} />;
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

/** Returns the label of a preset's button. */
function presetWords(preset: Preset): string {
  return words[preset];
}

/** Returns what a job waits for, or its last error. Empty if neither applies. */
function jobWhy({
  park,
  lastError,
  pausedAt,
  status,
}: Pick<Job, "park" | "lastError" | "pausedAt" | "status">): string {
  if (park !== undefined) {
    const { title } = parkWords(park.reason);
    return park.judgment?.question ?? title;
  }
  if (pausedAt !== undefined && !hasEnded(status)) return "Pausing when the running calls have finished";
  return lastError;
}
