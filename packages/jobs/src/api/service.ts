import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type AskServiceContext, askFaults, askMethods, askPort } from "@svc/asks";
import { assertExhaustive, type Id, isWithin, parseId, projectList, requireId, requireProject } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { readJobBindings } from "@svc/db/jobs/principals";
import { type ListedUndoEntry, listJobUndoEntries } from "@svc/db/jobs/undo";
import { GetAskResponseSchema, type JobsService, ListAsksResponseSchema } from "@svc/gen/jobs";
import type { PauseResult } from "../drive/schedule/pause-job.ts";
import { jobFaults } from "../errors.ts";
import { attemptMethods } from "./attempts.ts";
import { bulkMethods } from "./bulk.ts";
import type { JobsContext } from "./context.ts";
import { toReceipt } from "./convert-receipts.ts";
import { jobMethods } from "./jobs.ts";
import { findJob, logMethods } from "./log.ts";
import { readJob } from "./read.ts";
import { skillMethods } from "./skills.ts";
import { stepMethods } from "./steps.ts";

/** The functions and settings that JobsService needs, including those for asks (questions of jobs to people). */
export type JobsServiceOptions = Omit<JobsContext, "asks"> & Omit<AskServiceContext, "readJob" | "receiptMessage">;

/** Returns the implementation of JobsService. Each method works on the project of the calling key. */
export function createJobsService(options: JobsServiceOptions): ServiceImpl<typeof JobsService> {
  const context: JobsContext = { ...options, asks: askPort };
  const asks = askMethods({
    ...options,
    readJob: (projectId, jobId) => readJob(options, projectId, "jobId", jobId),
    receiptMessage: toReceipt,
  });
  const jobs = {
    ...jobMethods(context),
    ...pauseMethods(context),
    ...attemptMethods(context),
    ...bulkMethods(context),
    ...stepMethods(context),
    ...undoMethods(context),
    ...logMethods(context),
    ...skillMethods(context),
  };
  return narrowJobs(options.db, { ...jobs, ...asks });
}

type Methods = Pick<ServiceImpl<typeof JobsService>, "pauseJob" | "resumeJob">;

/** Returns the methods PauseJob and ResumeJob. */
function pauseMethods(context: JobsContext): Methods {
  const { engine, hints } = context;
  return {
    async pauseJob(request, ctx) {
      const { projectId, keyId } = requireProject(ctx);
      const jobId = requireId("job", "id", request.id);
      assertDone(jobId, await engine.pause({ jobId, projectId }, [`key:${keyId}`]));
      hints.notify(jobId);
      return { job: await readJob(context, projectId, "id", jobId) };
    },
    async resumeJob(request, ctx) {
      const { projectId, keyId } = requireProject(ctx);
      const jobId = requireId("job", "id", request.id);
      assertDone(jobId, await engine.resume({ jobId, projectId }, [`key:${keyId}`]));
      hints.notify(jobId);
      return { job: await readJob(context, projectId, "id", jobId) };
    },
  };
}

function assertDone(id: Id<"job">, paused: PauseResult): void {
  switch (paused.outcome) {
    case "done":
      return;
    case "missing":
      throw askFaults.JOB_NOT_FOUND("id", id);
    case "ended":
      throw jobFaults.JOB_FINISHED("id", id, paused.status);
    case "not_paused":
      throw jobFaults.JOB_NOT_PAUSED(id, paused.status);
    default:
      assertExhaustive(paused);
  }
}

type Service = ServiceImpl<typeof JobsService>;

/**
 * Returns JobsService for scoped keys. A job outside the key's scope is reported as missing by each method that names a job. ListJobs
 * already leaves such jobs out, and SubmitJob checks the scope itself.
 */
function narrowJobs(db: Executor, service: Service): Service {
  const named = nameJobs(db);
  return {
    ...service,
    describeProgram: named("jobId", service.describeProgram),
    getJob: named("id", service.getJob),
    cancelJob: named("id", service.cancelJob),
    pauseJob: named("id", service.pauseJob),
    resumeJob: named("id", service.resumeJob),
    retryJob: named("id", service.retryJob),
    rerunJob: named("id", service.rerunJob),
    listSteps: named("jobId", service.listSteps),
    getStep: named("jobId", service.getStep),
    listUndoEntries: named("jobId", service.listUndoEntries),
    listJobEvents: named("jobId", service.listJobEvents),
    answerAsk: named("jobId", service.answerAsk),
    createAnswerLink: named("jobId", service.createAnswerLink),
    async listAsks(request, ctx) {
      const { asks, nextPageToken } = create(ListAsksResponseSchema, await service.listAsks(request, ctx));
      const reached = await reachedJobs(db, requireProject(ctx), idsOf(asks));
      // A key may be limited to some jobs. Asks of other jobs are removed from the page. So a page may be shorter than requested even if
      // another page follows.
      return { nextPageToken, asks: asks.filter(({ jobId }) => reached(jobId as Id<"job">)) };
    },
    async getAsk(request, ctx) {
      await assertJobReached(db, ctx, "jobId", request.jobId);
      const answer = create(GetAskResponseSchema, await service.getAsk(request, ctx));
      const [id] = idsOf(answer.ask === undefined ? [] : [answer.ask]);
      if (id === undefined || !(await reachedJobs(db, requireProject(ctx), [id]))(id)) {
        throw askFaults.ASK_NOT_FOUND(request.requestId);
      }
      return answer;
    },
    async *watchJob(request, ctx) {
      await assertJobReached(db, ctx, "jobId", request.jobId);
      yield* service.watchJob(request, ctx);
    },
  };
}

/**
 * Returns a function for the jobs `ids`. The function returns true for a job that is in the caller's access scope, and false for any other
 * job.
 */
async function reachedJobs(
  db: Executor,
  { projectId, binding }: ReturnType<typeof requireProject>,
  ids: readonly Id<"job">[],
): Promise<(id: Id<"job">) => boolean> {
  if (binding === undefined) return () => true;
  const bindings = await readJobBindings(db, projectId, [...new Set(ids)]);
  return (id) => bindings.has(id) && isWithin({ binding: bindings.get(id) ?? null }, binding);
}

function idsOf(asks: readonly { readonly jobId: string }[]): Id<"job">[] {
  return asks.flatMap(({ jobId }) => parseId("job", jobId) ?? []);
}

function nameJobs(db: Executor) {
  return <Field extends string, Request extends Readonly<Record<Field, string>>, Answer>(
    field: Field,
    method: (request: Request, ctx: HandlerContext) => Promise<Answer> | Answer,
  ) =>
    async (request: Request, ctx: HandlerContext): Promise<Answer> => {
      await assertJobReached(db, ctx, field, request[field]);
      return method(request, ctx);
    };
}

/**
 * Throws JOB_NOT_FOUND if the job is outside the caller's scope. Does nothing if the text is not a job id, because the called method
 * refuses it.
 */
async function assertJobReached(db: Executor, ctx: HandlerContext, field: string, text: string): Promise<void> {
  const principal = requireProject(ctx);
  if (principal.binding === undefined) return;
  const id = parseId("job", text);
  if (id !== undefined && !(await reachedJobs(db, principal, [id]))(id)) throw askFaults.JOB_NOT_FOUND(field, text);
}

/** Returns the method ListUndoEntries. */
function undoMethods(context: JobsContext): Pick<ServiceImpl<typeof JobsService>, "listUndoEntries"> {
  const { db, sealer } = context;
  return {
    listUndoEntries: projectList(sealer, {
      call: "ListUndoEntries",
      order: { positionOf: ({ entry }: ListedUndoEntry) => String(entry), read: Number },
      filter: ({ jobId }) => ({ jobId: requireId("job", "jobId", jobId) }),
      async rows({ filter: { jobId }, page: { after = 0, limit }, caller: { projectId } }) {
        await findJob(context, projectId, jobId);
        return listJobUndoEntries(db, jobId, { afterEntry: after, limit });
      },
      answer: (rows) => ({ entries: [...rows] }),
    }),
  };
}
