import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { askFaults } from "@svc/asks";
import { checkFilterText, optionalId, pageOf, requireId, requireProject, timeRange, walkedRows } from "@svc/core";
import { type JobFilter, type JobMode, jobsForProject, type ListedJob, requestJobCancel } from "@svc/db";
import {
  CancelJobResponseSchema,
  GetJobResponseSchema,
  type JobsService,
  JobView,
  type ListJobsRequest,
  ListJobsResponseSchema,
  type SubmitJobRequest,
  SubmitJobResponseSchema,
} from "@svc/gen/jobs";
import { jobFaults } from "../errors.ts";
import { describeProgram } from "./check-program.ts";
import type { JobsContext } from "./context.ts";
import { statusOfFilter } from "./convert-jobs.ts";
import { readIdempotencyKey } from "./idempotency-key.ts";
import { readPage, walkPage } from "./list.ts";
import { isJobReached } from "./narrow.ts";
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
      return create(SubmitJobResponseSchema, { job, notes: toNotes(notes, "programJson") });
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
      return create(GetJobResponseSchema, { job, ...(simulation && { simulation }) });
    },
    async listJobs(request, ctx) {
      const { projectId, binding } = requireProject(ctx);
      const title = checkFilterText("titleContains", request.titleContains).toLowerCase();
      const filter = readFilter(request);
      const scope = { call: "ListJobs", projectId, filters: { ...filter, title } };
      const page = pageOf(sealer, scope, request, "job");
      const jobsOfProject = jobsForProject(db, projectId);
      const fits = (job: ListedJob) =>
        isJobReached(job, binding) && (title === "" || titleOfListed(context, job).toLowerCase().includes(title));
      const read =
        title === "" && binding === undefined
          ? { ...(await readPage(jobsOfProject, filter, page)), walkedTo: undefined }
          : { ...(await walkPage(jobsOfProject, filter, page, fits)), size: page.size };
      const { rows, nextPageToken } = walkedRows(sealer, scope, read, read.size);
      const isSummary = request.view === JobView.SUMMARY;
      const jobs = isSummary ? toJobSummaries(context, rows) : await toJobs(context, projectId, rows);
      return create(ListJobsResponseSchema, { jobs, nextPageToken });
    },
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
      return create(CancelJobResponseSchema, { job: await readJob(context, projectId, "id", jobId) });
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
