import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Job, JobStatus, JobView, type ListJobsRequestSchema } from "@svc/gen/jobs";
import { listSearch, spanParams } from "../../frame/list-search.ts";
import { oneOfParam, textParam } from "../../shell/search-params.ts";
import { jobStatuses, jobStatusOf, jobStatusWord } from "../../words/jobs.ts";
import { parkWords } from "../../words/park.ts";
import { spanRequest } from "../../words/spans.ts";

/** The most used filters of the list of jobs. Each filter stands for several statuses. */
export const presets = ["waiting", "running", "failed"] as const;

/** Name of a preset of the list of jobs (`waiting`, `running` or `failed`). A preset is a filter for several job statuses. */
export type Preset = (typeof presets)[number];

const presetStatuses: Record<Preset, readonly JobStatus[]> = {
  waiting: [JobStatus.PENDING_PLAN_APPROVAL, JobStatus.PARKED],
  running: [JobStatus.SIMULATING, JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.COMPENSATING],
  failed: [JobStatus.FAILED, JobStatus.ABORTED, JobStatus.EXPIRED],
};

/** The search parameters of the list of jobs. */
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
  },
  {},
  ({ preset, status, mode, title, skill, ...span }, now): MessageInitShape<typeof ListJobsRequestSchema> => {
    const known = status === undefined ? undefined : jobStatusOf(status);
    return {
      pageSize: 100,
      view: JobView.SUMMARY,
      statuses: known !== undefined ? [known] : preset === undefined ? [] : [...presetStatuses[preset]],
      mode: mode ?? "",
      titleContains: title ?? "",
      skillSlug: skill ?? "",
      ...spanRequest(span, now),
    };
  },
);

/**
 * True if the page lists this job of the service's answer. The list `waiting` shows only jobs that wait for a person, so a job that waits
 * for a time is left out.
 */
export function isListed({ preset }: { preset?: Preset | undefined }, job: Pick<Job, "park">): boolean {
  return preset !== "waiting" || job.park === undefined || parkWords(job.park.reason).forPerson;
}
