import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Job, JobStatus, JobView, type ListJobsRequestSchema } from "@svc/gen/jobs";
import { oneOfParam, type SearchOf, searchReader, textParam } from "../../shell/search-params.ts";
import { jobStatuses, jobStatusOf, jobStatusWord } from "../../words/jobs.ts";
import { parkWords } from "../../words/park.ts";
import { rangeNames, ranges } from "../../words/ranges.ts";

/** The lists of jobs that are looked at most, each several statuses. */
export const presets = ["waiting", "running", "failed"] as const;

/** One of the presets. */
export type Preset = (typeof presets)[number];

const presetStatuses: Record<Preset, readonly JobStatus[]> = {
  waiting: [JobStatus.PENDING_PLAN_APPROVAL, JobStatus.PARKED],
  running: [JobStatus.SIMULATING, JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.COMPENSATING],
  failed: [JobStatus.FAILED, JobStatus.ABORTED, JobStatus.EXPIRED],
};

const words: Record<Preset, string> = { waiting: "Waiting for a person", running: "Running", failed: "Failed" };

/** A preset as it stands on its button. */
export function presetWords(preset: Preset): string {
  return words[preset];
}

const params = {
  preset: oneOfParam(presets),
  status: oneOfParam(jobStatuses.map((status) => jobStatusWord(status).word)),
  mode: oneOfParam(["live", "simulate", "rehearse"]),
  /** How far back; all that is kept where it is not there. */
  range: oneOfParam(rangeNames),
  /** Text that the title has. */
  title: textParam,
  /** Slug of the skill whose jobs are listed. */
  skill: textParam,
};

/** The search parameters of the list of jobs. */
export type JobsSearch = SearchOf<typeof params>;

/** Reads the search parameters of the list of jobs. */
export const readJobsSearch: (raw: Record<string, unknown>) => JobsSearch = searchReader(params);

/** A range begins at a whole minute, so that the same list is the same request for that long. */
const stepMs = 60_000;

/** What is asked of the service for these parameters, `now` in milliseconds. */
export function jobsRequest(search: JobsSearch, now: number): MessageInitShape<typeof ListJobsRequestSchema> {
  const { preset, status, mode, range, title, skill } = search;
  const since = range === undefined ? undefined : Math.floor((now - ranges[range]) / stepMs) * stepMs;
  const known = status === undefined ? undefined : jobStatusOf(status);
  return {
    pageSize: 100,
    view: JobView.SUMMARY,
    statuses: known !== undefined ? [known] : preset === undefined ? [] : [...presetStatuses[preset]],
    mode: mode ?? "",
    titleContains: title ?? "",
    skillSlug: skill ?? "",
    ...(since !== undefined && { since: timestampFromMs(since) }),
  };
}

/** Whether a job of the answer belongs to the list: a parked one may wait for a time, and for no person. */
export function isListed({ preset }: JobsSearch, job: Pick<Job, "park">): boolean {
  return preset !== "waiting" || job.park === undefined || parkWords(job.park.reason).forPerson;
}

/** Whether anything is filtered, so that an empty list means no match rather than no job. */
export function isFiltered(search: JobsSearch): boolean {
  return Object.values(search).some((value) => value !== undefined);
}
