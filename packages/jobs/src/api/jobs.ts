import type { ServiceImpl } from "@connectrpc/connect";
import { askFaults } from "@svc/asks";
import {
  byId,
  checkFilterText,
  isWithin,
  optionalId,
  projectList,
  requireId,
  requireProject,
  timeRange,
} from "@svc/core";
import { requestJobCancel } from "@svc/db/jobs/cancel";
import type { JobFilter } from "@svc/db/jobs/list-filter";
import { jobsForProject } from "@svc/db/jobs/repo";
import type { JobMode } from "@svc/db/schema/words";
import { type JobsService, JobView, type ListJobsRequest, type SubmitJobRequest } from "@svc/gen/jobs";
import { jobFaults } from "../errors.ts";
import { describeProgram } from "./check-program.ts";
import type { JobsContext } from "./context.ts";
import { statusOfFilter } from "./convert-jobs.ts";
import { readIdempotencyKey } from "./idempotency-key.ts";
import { readPage, walkPage } from "./list.ts";
import { toNotes } from "./notes.ts";
import { readJob, readTwin, titleOfListed, toJobSummaries, toJobs, toNewJob } from "./read.ts";
import { submit } from "./submit.ts";

type Methods = Pick<
  ServiceImpl<typeof JobsService>,
  "submitJob" | "checkProgram" | "getJob" | "listJobs" | "cancelJob"
>;

/** The methods about jobs as a whole. */
export function jobMethods(context: JobsContext): Methods {
  const { db, clock, sealer, engine } = context;
  return {
    async submitJob(request, ctx) {
      const { projectId, keyId, role, binding = null, confirm } = requireProject(ctx);
      const submission = { projectId, keyId, role, binding, confirm, ...readSubmission(request) };
      const submitted = await submit(context, submission);
      if ("refusal" in submitted) throw submitted.refusal;
      const { id, stored, notes } = submitted;
      const job =
        stored?.isAlone === true
          ? toNewJob(stored.job, request.programJson, stored.programHash)
          : await readJob(context, projectId, "id", id);
      return { job, notes: toNotes(notes, "programJson") };
    },
    async checkProgram({ programJson }, ctx) {
      return describeProgram(context, requireProject(ctx), programJson);
    },
    async getJob(request, ctx) {
      const { projectId } = requireProject(ctx);
      const id = requireId("job", "id", request.id);
      const [job, simulation] = await Promise.all([
        readJob(context, projectId, "id", id),
        readTwin(context, projectId, id),
      ]);
      return { job, ...(simulation && { simulation }) };
    },
    listJobs: projectList(sealer, {
      call: "ListJobs",
      order: byId("job"),
      filter: (request) => ({
        title: checkFilterText("titleContains", request.titleContains).toLowerCase(),
        ...readFilter(request),
      }),
      rows({ filter: { title, ...filter }, page, caller: { projectId, binding } }) {
        const jobs = jobsForProject(db, projectId);
        if (title === "" && binding === undefined) return readPage(jobs, filter, page);
        return walkPage(jobs, filter, page, (job) => {
          if (!isWithin(job, binding)) return false;
          return title === "" || titleOfListed(context, job).toLowerCase().includes(title);
        });
      },
      async answer(rows, { request: { view }, caller: { projectId } }) {
        const isSummary = view === JobView.SUMMARY;
        return { jobs: isSummary ? toJobSummaries(context, rows) : await toJobs(context, projectId, rows) };
      },
    }),
    async cancelJob(request, ctx) {
      const { projectId, keyId } = requireProject(ctx);
      const jobId = requireId("job", "id", request.id);
      const change = { jobId, projectId, chain: [`key:${keyId}`], nowMs: clock.now() };
      const found = await requestJobCancel(db, change);
      if (found === undefined) throw askFaults.JOB_NOT_FOUND("id", request.id);
      if (found.isFinished && found.status !== "cancelled")
        throw jobFaults.JOB_FINISHED("id", request.id, found.status);
      engine.cancel(jobId);
      engine.wake();
      return { job: await readJob(context, projectId, "id", jobId) };
    },
  };
}

/** Which jobs a list is about. Throws MODE_INVALID, TIME_RANGE_INVALID, ID_MALFORMED. */
function readFilter(request: ListJobsRequest): JobFilter {
  const { status, skillSlug } = request;
  const asked = [status, ...request.statuses].flatMap((one) => statusOfFilter(one) ?? []);
  return {
    statuses: asked.length === 0 ? undefined : [...new Set(asked)].sort(),
    mode: request.mode === "" ? undefined : readListedMode(request.mode),
    skillSlug: skillSlug === "" ? undefined : skillSlug,
    parentJobId: optionalId("job", "parentJobId", request.parentJobId),
    standingProgramId: optionalId("stp", "standingProgramId", request.standingProgramId),
    ...timeRange(request.since, request.until),
  };
}

function readSubmission({ programJson, idempotencyKey, mode, simulateFirst }: SubmitJobRequest) {
  const read = readMode(mode);
  if (read === "simulate" && simulateFirst) throw jobFaults.MODE_CONFLICT();
  return { programJson, mode: read, simulateFirst, idempotencyKey: readIdempotencyKey(idempotencyKey) };
}

/** Throws MODE_INVALID. */
function readListedMode(mode: string): JobMode {
  return mode === "rehearse" ? mode : readMode(mode);
}

/** Throws MODE_INVALID, also for `rehearse`: only a standing program is rehearsed. */
function readMode(mode: string): "live" | "simulate" {
  if (mode === "" || mode === "live") return "live";
  if (mode === "simulate") return mode;
  throw jobFaults.MODE_INVALID(mode);
}
