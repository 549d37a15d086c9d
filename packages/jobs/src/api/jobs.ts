import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { askFaults } from "@svc/asks";
import {
  byId,
  checkFilterText,
  type Id,
  isWithin,
  optionalId,
  type ProjectId,
  projectList,
  requireId,
  requireProject,
  timeRange,
  waitContext,
} from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import { requestJobCancel } from "@svc/db/jobs/hold";
import type { JobFilter } from "@svc/db/jobs/list-filter";
import { type JobRepository, jobsForProject } from "@svc/db/jobs/repo";
import type { JobMode } from "@svc/db/schema/words";
import { type Job, type JobsService, JobView, type ListJobsRequest, type SubmitJobRequest } from "@svc/gen/jobs";
import { jobFaults } from "../errors.ts";
import { checkForSubmission } from "./check-program.ts";
import { type JobsContext, readIdempotencyKey } from "./context.ts";
import { statusOfFilter, toJob } from "./convert-jobs.ts";
import { answerDescribe } from "./describe.ts";
import { toNotes } from "./notes.ts";
import { type ReadContext, readJob, titleOfListed, toEndedJob, toJobs, toNewJob } from "./read.ts";
import { submit } from "./submit.ts";

/** Number of jobs that one statement reads with their programs. The number is small, because each program can have up to 256 KiB. */
const chunkSize = 50;
/** Maximum total size of the programs of the jobs on one page, in bytes. If the programs are larger, the page has fewer jobs. */
const pageBytesMax = 8_388_608;

/**
 * Returns the jobs of one page, and one more job if the list continues. `size`: number of jobs to show. It is smaller than requested if
 * their programs are too large for one response.
 */
export async function readPage(
  repository: Pick<JobRepository, "list">,
  filter: JobFilter,
  { after, size }: { readonly after: Id<"job"> | undefined; readonly size: number },
): Promise<{ readonly rows: readonly ListedJob[]; readonly size: number }> {
  const rows: ListedJob[] = [];
  for (let bytes = 0; rows.length <= size; ) {
    const limit = Math.min(chunkSize, size + 1 - rows.length);
    const chunk = await repository.list(filter, { after: rows.at(-1)?.id ?? after, limit });
    for (const row of chunk) {
      // A page has at least one job. The first job that does not fit into the page is returned as an extra row, which shows that the list
      // continues.
      bytes += row.sealedProgram?.length ?? row.program?.length ?? 0;
      rows.push(row);
      if (bytes > pageBytesMax && rows.length > 1) return { rows, size: rows.length - 1 };
    }
    if (chunk.length < limit) break;
  }
  return { rows, size };
}

/** Maximum number of jobs that one page reads when it searches for a title. */
const walkedMax = 2_000;
const walkedBytesMax = 33_554_432;
const walkChunkSize = 200;

/**
 * Returns the jobs of one page for which `fits` is true. Returns one more job if the list continues. The search reads only a limited number
 * of jobs. If it stops at this limit, `walkedTo` is the last job that was read; otherwise `walkedTo` is undefined.
 */
async function walkPage(
  repository: Pick<JobRepository, "list">,
  filter: JobFilter,
  { after, size }: { readonly after: Id<"job"> | undefined; readonly size: number },
  fits: (job: ListedJob) => boolean,
): Promise<{ readonly rows: readonly ListedJob[]; readonly walkedTo: Id<"job"> | undefined }> {
  const rows: ListedJob[] = [];
  let last = after;
  for (let walked = 0, bytes = 0; walked < walkedMax && bytes < walkedBytesMax; ) {
    const chunk = await repository.list(filter, { after: last, limit: walkChunkSize });
    for (const row of chunk) {
      bytes += row.sealedProgram?.length ?? row.program?.length ?? 0;
      if (fits(row)) rows.push(row);
      if (rows.length > size) return { rows, walkedTo: undefined };
    }
    last = chunk.at(-1)?.id ?? last;
    walked += chunk.length;
    if (chunk.length < walkChunkSize) return { rows, walkedTo: undefined };
  }
  return { rows, walkedTo: last };
}

type Methods = Pick<
  ServiceImpl<typeof JobsService>,
  "submitJob" | "checkProgram" | "describeProgram" | "getJob" | "listJobs" | "cancelJob"
>;

/** Returns the methods of JobsService that submit, check, read, list and cancel jobs. */
export function jobMethods(context: JobsContext): Methods {
  const { db, clock, sealer, engine } = context;
  return {
    async submitJob(request, ctx) {
      const { projectId, keyId, role, binding = null, confirm } = requireProject(ctx);
      const submission = { projectId, keyId, role, binding, confirm, ...readSubmission(request) };
      const waitMs = enterWait(request.waitSeconds, ctx);
      const submitted = await submit(context, submission);
      if ("refusal" in submitted) throw submitted.refusal;
      const { id, stored, notes } = submitted;
      const alone = stored?.isAlone === true ? stored : undefined;
      const wait = { jobId: id, waitMs, signal: ctx.signal, isDriven: alone?.isDriven };
      const end = waitMs > 0 ? await context.waits.until(wait) : undefined;
      const { programJson } = request;
      // The program text of this request is shown only for a new job in its first attempt. If the job was created by an earlier call with
      // the same idempotency key, its stored program text is read instead. The receipts of earlier attempts are also read if there are any.
      const job =
        alone !== undefined && end?.state.attempt === 1
          ? toEndedJob(alone.job, end, programJson, alone.programHash)
          : alone !== undefined && waitMs === 0
            ? toNewJob(alone.job, programJson, alone.programHash)
            : await readJob(context, projectId, "id", id);
      return { job, notes: toNotes(notes, "programJson") };
    },
    async checkProgram({ programJson }, ctx) {
      return checkForSubmission(context, requireProject(ctx), programJson);
    },
    async describeProgram(request, ctx) {
      return answerDescribe(context, requireProject(ctx), request);
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

/**
 * Returns the filter that a ListJobs request describes, such as statuses and a time range. Throws MODE_INVALID, TIME_RANGE_INVALID or
 * ID_MALFORMED.
 */
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

/**
 * Longest time in seconds that a call may wait for the end of a job. It is less than the usual timeout of clients and proxies, so that they
 * do not end the call first.
 */
const waitSecondsMax = 30;
/** A waiting call is answered this many milliseconds before the client's timeout, so that the answer arrives in time. */
const answeringMs = 1_000;

/**
 * Counts a waiting call in the quota of open streams, and returns how many milliseconds it waits. Throws WAIT_SECONDS_INVALID and
 * QUOTA_OPEN_STREAMS.
 */
function enterWait(waitSeconds: number, { signal, values, timeoutMs }: HandlerContext): number {
  if (waitSeconds > waitSecondsMax) throw jobFaults.WAIT_SECONDS_INVALID(waitSeconds, waitSecondsMax);
  if (waitSeconds === 0) return 0;
  // The client may already have disconnected. Then this line throws, and the call is not counted as a waiting call.
  signal.throwIfAborted();
  values.get(waitContext)?.();
  return Math.min(waitSeconds * 1_000, Math.max(1, (timeoutMs() ?? Number.POSITIVE_INFINITY) - answeringMs));
}

/** Returns the job mode (for example `simulate`) that the filter of a list names. Throws MODE_INVALID if the mode is unknown. */
function readListedMode(mode: string): JobMode {
  return mode === "rehearse" ? mode : readMode(mode);
}

/**
 * Returns the mode of a submission. Throws MODE_INVALID if it is unknown, or if it is `rehearse`, which only standing programs (schedules)
 * use.
 */
function readMode(mode: string): "live" | "simulate" {
  if (mode === "" || mode === "live") return "live";
  if (mode === "simulate") return mode;
  throw jobFaults.MODE_INVALID(mode);
}

/**
 * Returns jobs in a short form for lists. It contains the data from each job's own database row and the title, but no program, steps,
 * questions or attempts.
 */
function toJobSummaries(context: Pick<ReadContext, "sealer">, rows: readonly ListedJob[]): Job[] {
  return rows.map((row) => {
    const shown = { programJson: "", title: titleOfListed(context, row) };
    return toJob({ job: { ...row, receipt: null }, ...shown, steps: [], pendingAsk: undefined, attempts: [] });
  });
}

/**
 * Returns the simulation run that a job made before its live run, because `simulateFirst` was requested at its submission. Undefined if the
 * job has no simulation run.
 */
async function readTwin(context: ReadContext, projectId: ProjectId, id: Id<"job">): Promise<Job | undefined> {
  const row = await jobsForProject(context.db, projectId).findSimulationRun(id);
  return row === undefined ? undefined : (await toJobs(context, projectId, [row]))[0];
}
