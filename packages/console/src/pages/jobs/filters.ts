import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Job, JobOriginKind, JobStatus, JobView, type ListJobsRequestSchema } from "@svc/gen/jobs";
import { listSearch, spanParams } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { jobStatuses, jobStatusOf, jobStatusWord } from "../../words/jobs.ts";
import { parkWords } from "../../words/park.ts";
import { spanRequest } from "../../words/spans.ts";

/** The most used filters of the list of jobs. Each of them selects several statuses, for example all kinds of failures. */
export const presets = ["running", "waiting", "failed"] as const;

type Preset = (typeof presets)[number];

const presetStatuses: Record<Preset, readonly JobStatus[]> = {
  waiting: [JobStatus.PENDING_PLAN_APPROVAL, JobStatus.PARKED],
  running: [JobStatus.SIMULATING, JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.COMPENSATING],
  failed: [JobStatus.FAILED, JobStatus.ABORTED, JobStatus.EXPIRED],
};

const originKinds = { key: JobOriginKind.KEY, schedule: JobOriginKind.SCHEDULE, skill: JobOriginKind.SKILL } as const;
const origins = ["key", "schedule", "skill"] as const;

/** Parameters in the address of the page that lists jobs: its filters, and the open job. */
export const jobsSearch = listSearch(
  {
    preset: oneOfParam(presets),
    status: oneOfParam(jobStatuses.map((status) => jobStatusWord(status).word)),
    mode: oneOfParam(["live", "simulate", "rehearse"]),
    ...spanParams,
    /** Text that the title of a job must contain, so that the job is listed. Unset: jobs with any title are listed. */
    title: textParam,
    /** Slug of the skill whose jobs are listed. Unset: the jobs of all skills and other programs are listed. */
    skill: textParam,
    /** Kind of caller or resource that started the listed jobs. Unset: jobs of every origin are listed. */
    origin: oneOfParam(origins),
    /** Fingerprint of the failure that the listed jobs have. Unset: jobs with any failure or none are listed. */
    failure: textParam,
    /** Hash of the program of the listed jobs. Unset: jobs of every program are listed. */
    program: textParam,
  },
  {},
  (
    { preset, status, mode, title, skill, origin, failure, program, ...span },
    now,
  ): MessageInitShape<typeof ListJobsRequestSchema> => {
    return {
      pageSize: 100,
      view: JobView.SUMMARY,
      statuses: [...statusesOf({ preset, status })],
      mode: mode ?? "",
      titleContains: title ?? "",
      skillSlug: skill ?? "",
      originKind: origin === undefined ? JobOriginKind.UNSPECIFIED : originKinds[origin],
      failureFingerprint: failure ?? "",
      programHash: program ?? "",
      ...spanRequest(span, now),
    };
  },
);

/** Returns the job statuses that the filters of the list select. An empty list selects all statuses. */
export function statusesOf({
  preset,
  status = "",
}: {
  preset?: Preset | undefined;
  status?: string | undefined;
}): readonly JobStatus[] {
  const known = jobStatusOf(status);
  if (known !== undefined) return [known];
  return preset === undefined ? [] : presetStatuses[preset];
}

/** Filters and other parameters from the address of the jobs page, already checked and converted. */
export type JobsSearch = ReturnType<typeof jobsSearch.read>;

/**
 * True if the page lists this job of the service's answer. The list `waiting` shows only jobs that wait for a person, so a job that waits
 * for a time is left out.
 */
export function isListed({ preset }: { preset?: Preset | undefined }, job: Pick<Job, "park">): boolean {
  return preset !== "waiting" || job.park === undefined || parkWords(job.park.reason).forPerson;
}
