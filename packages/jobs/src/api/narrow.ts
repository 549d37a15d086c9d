import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { askFaults } from "@svc/asks";
import { type Id, isWithin, parseId, requireProject } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { readJobBindings } from "@svc/db/jobs/read-bindings";
import { GetAskResponseSchema, type JobsService, ListAsksResponseSchema } from "@svc/gen/jobs";

type Service = ServiceImpl<typeof JobsService>;

/**
 * JobsService as a bound key finds it: a job that reaches more than its caller is bound to reads as missing, by whichever call it is
 * named. Lists leave such jobs out themselves, and what is submitted is checked where it is read.
 */
export function narrowJobs(db: Executor, service: Service): Service {
  const named = nameJobs(db);
  return {
    ...service,
    getJob: named("id", service.getJob),
    cancelJob: named("id", service.cancelJob),
    pauseJob: named("id", service.pauseJob),
    resumeJob: named("id", service.resumeJob),
    retryJob: named("id", service.retryJob),
    rerunJob: named("id", service.rerunJob),
    listSteps: named("jobId", service.listSteps),
    listUndoEntries: named("jobId", service.listUndoEntries),
    listJobEvents: named("jobId", service.listJobEvents),
    answerAsk: named("jobId", service.answerAsk),
    createAnswerLink: named("jobId", service.createAnswerLink),
    async listAsks(request, ctx) {
      const { asks, nextPageToken } = create(ListAsksResponseSchema, await service.listAsks(request, ctx));
      const reached = await reachedJobs(db, requireProject(ctx), idsOf(asks));
      // A page may be short, and have a token.
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

/** Which of some jobs whoever is bound so reaches. */
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

/** Throws JOB_NOT_FOUND. What is no id of a job is the method's to refuse. */
async function assertJobReached(db: Executor, ctx: HandlerContext, field: string, text: string): Promise<void> {
  const principal = requireProject(ctx);
  if (principal.binding === undefined) return;
  const id = parseId("job", text);
  if (id !== undefined && !(await reachedJobs(db, principal, [id]))(id)) throw askFaults.JOB_NOT_FOUND(field, text);
}
