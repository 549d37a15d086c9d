import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { askFaults } from "@svc/asks";
import { appNamesOf } from "@svc/catalog";
import { byId, type Id, type ProjectId, projectList, requireId, requireProject, waitContext } from "@svc/core";
import { requestJobCancel } from "@svc/db/jobs/hold";
import { jobsForProject } from "@svc/db/jobs/repo";
import { type Job, type JobsService, JobView, type SubmitJobRequest } from "@svc/gen/jobs";
import { jobFaults } from "../errors.ts";
import { checkForSubmission } from "./check-program.ts";
import { type JobsContext, readIdempotencyKey } from "./context.ts";
import { answerDescribe } from "./describe.ts";
import { readListed, readListedFilter, readMode } from "./listed.ts";
import { toNotes } from "./notes.ts";
import { type ReadContext, readJob, toEndedJob, toJobSummaries, toJobs, toNewJob } from "./read.ts";
import { submit } from "./submit.ts";

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
      const appNames = appNamesOf(await context.views.forProject(projectId));
      const job =
        alone !== undefined && end?.state.attempt === 1
          ? toEndedJob(alone.job, end, programJson, alone.programHash, appNames)
          : alone !== undefined && waitMs === 0
            ? toNewJob(alone.job, programJson, alone.programHash, appNames)
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
      filter: readListedFilter,
      rows: ({ filter, page, caller }) => readListed(context, caller, filter, page),
      async answer(rows, { request: { view }, caller: { projectId } }) {
        const isSummary = view === JobView.SUMMARY;
        return { jobs: await (isSummary ? toJobSummaries : toJobs)(context, projectId, rows) };
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

/**
 * Returns the simulation run that a job made before its live run, because `simulateFirst` was requested at its submission. Undefined if the
 * job has no simulation run.
 */
async function readTwin(context: ReadContext, projectId: ProjectId, id: Id<"job">): Promise<Job | undefined> {
  const row = await jobsForProject(context.db, projectId).findSimulationRun(id);
  return row === undefined ? undefined : (await toJobs(context, projectId, [row]))[0];
}
