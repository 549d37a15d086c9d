import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { Fault, type Id, isWithin, type ProjectPrincipal, parseId, requireProject } from "@svc/core";
import { requestJobCancel } from "@svc/db/jobs/hold";
import { loadJobs } from "@svc/db/jobs/load";
import type { JobRecord } from "@svc/db/jobs/record";
import { type JobStatus, jobStatuses } from "@svc/db/schema/words";
import {
  BulkJobsAction,
  type BulkJobsRefusalSchema,
  type BulkJobsRequest,
  type BulkJobsResponse,
  BulkJobsResponseSchema,
  type JobsService,
  type ListJobsRequest,
  RetryJobRequestSchema,
} from "@svc/gen/jobs";
import { jobFaults } from "../errors.ts";
import { isEnd, isRetryable } from "../state/statuses.ts";
import { retryOne } from "./attempts.ts";
import type { JobsContext } from "./context.ts";
import { readListed, readListedFilter } from "./listed.ts";

/** Maximum number of jobs that one call changes. */
const jobsMax = 1_000;
/** Maximum number of jobs that one call reads to find those of a filter. */
const readMax = 20_000;
const pageSize = 200;
const refusalsMax = 20;
/** Number of jobs that one call changes at the same time. */
const concurrency = 8;
/** Time after which a call stops and reports that jobs are left, in milliseconds. */
const workMsMax = 25_000;

/** An action on jobs: the statuses of the jobs that it can change, the jobs that it leaves out, and the change of one job. */
type Action = {
  readonly word: string;
  readonly statuses: readonly JobStatus[];
  readonly isMeant: (job: JobRecord, untilMs: number) => boolean;
  readonly change: (context: JobsContext, principal: ProjectPrincipal, jobId: Id<"job">) => Promise<unknown>;
};

const actions: ReadonlyMap<BulkJobsAction, Action> = new Map<BulkJobsAction, Action>([
  [
    BulkJobsAction.RETRY,
    {
      word: "retried",
      statuses: jobStatuses.filter(isRetryable),
      isMeant: ({ mode, parentJobId, finishedAt }, untilMs) =>
        mode === "live" && parentJobId === null && finishedAt !== null && finishedAt < untilMs,
      change: (context, principal, id) => retryOne(context, principal, create(RetryJobRequestSchema, { id })),
    },
  ],
  [
    BulkJobsAction.CANCEL,
    {
      word: "cancelled",
      statuses: jobStatuses.filter((status) => !isEnd(status)),
      isMeant: ({ createdAt, cancelRequestedAt }, untilMs) => cancelRequestedAt === null && createdAt < untilMs,
      change: cancelOne,
    },
  ],
]);

async function cancelOne({ db, clock, engine }: JobsContext, principal: ProjectPrincipal, jobId: Id<"job">) {
  const { projectId, keyId } = principal;
  const found = await requestJobCancel(db, { jobId, projectId, chain: [`key:${keyId}`], nowMs: clock.now() });
  if (found?.isFinished === true && found.status !== "cancelled")
    throw jobFaults.JOB_FINISHED("id", jobId, found.status);
  engine.cancel(jobId);
}

/** Returns the method BulkJobs, which retries or cancels many jobs. */
export function bulkMethods(context: JobsContext): Pick<ServiceImpl<typeof JobsService>, "bulkJobs"> {
  return {
    async bulkJobs(request, ctx) {
      const principal = requireProject(ctx);
      const action = readAction(request);
      const untilMs = request.until === undefined ? context.clock.now() : timestampMs(request.until);
      const chosen = await chooseJobs(context, principal, { request, action, untilMs });
      const { ids, isMore } = chosen;
      const shared = { matched: ids.length, until: timestampFromMs(untilMs) };
      if (request.dryRun) {
        return create(BulkJobsResponseSchema, {
          ...shared,
          hasMore: isMore,
          summary: `counted ${jobsText(ids.length)}`,
        });
      }
      const result = await changeJobs(context, principal, { ids, action, ctx });
      const summary = `${action.word} ${result.done} of ${jobsText(ids.length)}`;
      return create(BulkJobsResponseSchema, { ...shared, ...result, hasMore: isMore || result.hasMore, summary });
    },
  };
}

function jobsText(count: number): string {
  return count === 1 ? "1 job" : `${count} jobs`;
}

function readAction({ action, filter, jobIds }: BulkJobsRequest): Action {
  const known = actions.get(action);
  if (known === undefined) throw jobFaults.BULK_JOBS_UNCLEAR("action", "the action is not set");
  if (filter !== undefined && jobIds.length > 0)
    throw jobFaults.BULK_JOBS_UNCLEAR("filter", "both a filter and ids of jobs are set");
  if (filter === undefined && jobIds.length === 0)
    throw jobFaults.BULK_JOBS_UNCLEAR("filter", "neither a filter nor ids of jobs are set");
  if (jobIds.length > jobsMax) throw jobFaults.BULK_JOBS_TOO_MANY(jobIds.length, jobsMax);
  return known;
}

type Choice = { readonly request: BulkJobsRequest; readonly action: Action; readonly untilMs: number };
type Chosen = { readonly ids: readonly Id<"job">[]; readonly isMore: boolean };

/** Returns the ids of the jobs that a request means and its action can change, newest first. */
async function chooseJobs(context: JobsContext, principal: ProjectPrincipal, choice: Choice): Promise<Chosen> {
  const { request, action, untilMs } = choice;
  const { projectId, binding } = principal;
  if (request.filter !== undefined) return chooseListed(context, principal, request.filter, choice);
  const asked = [...new Set(request.jobIds.flatMap((id) => parseId("job", id) ?? []))];
  const found = (await loadJobs(context.db, asked)).filter(
    (job) =>
      job.projectId === projectId &&
      isWithin(job, binding) &&
      action.statuses.includes(job.status) &&
      action.isMeant(job, untilMs),
  );
  return { ids: found.map(({ id }) => id).sort((a, b) => (a < b ? 1 : -1)), isMore: false };
}

async function chooseListed(
  context: JobsContext,
  principal: ProjectPrincipal,
  asked: ListJobsRequest,
  { action, untilMs }: Choice,
): Promise<Chosen> {
  const filter = readListedFilter(asked);
  const statuses = action.statuses.filter((one) => filter.statuses?.includes(one) ?? true);
  const ids: Id<"job">[] = [];
  let after: Id<"job"> | undefined;
  for (let read = 0; statuses.length > 0 && read < readMax; read += pageSize) {
    const page = { after, size: pageSize };
    const { rows, walkedTo, size = pageSize } = await readListed(context, principal, { ...filter, statuses }, page);
    const shown = rows.slice(0, size);
    ids.push(...shown.filter((job) => action.isMeant(job, untilMs)).map(({ id }) => id));
    after = rows.length > size ? shown.at(-1)?.id : walkedTo;
    if (ids.length > jobsMax) return { ids: ids.slice(0, jobsMax), isMore: true };
    if (after === undefined) break;
  }
  return { ids, isMore: after !== undefined };
}

type Work = { readonly ids: readonly Id<"job">[]; readonly action: Action; readonly ctx: HandlerContext };

/** Changes the jobs, some at the same time. Stops early if the caller disconnects or if the time is over. */
async function changeJobs(
  context: JobsContext,
  principal: ProjectPrincipal,
  { ids, action, ctx }: Work,
): Promise<Pick<BulkJobsResponse, "done" | "refused" | "hasMore"> & { readonly refusals: Refusal[] }> {
  const endMs = context.clock.now() + workMsMax;
  const refusals: Refusal[] = [];
  let [done, refused, next] = [0, 0, 0];
  const worker = async () => {
    while (next < ids.length && !ctx.signal.aborted && context.clock.now() < endMs) {
      const jobId = ids[next++];
      if (jobId === undefined) return;
      try {
        await action.change(context, principal, jobId);
        context.hints.notify(jobId);
        done++;
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        if (refused++ < refusalsMax)
          refusals.push({ jobId, reason: error.details[0]?.reason ?? "", message: error.message });
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  context.engine.wake();
  return { done, refused, refusals, hasMore: next < ids.length };
}

type Refusal = MessageInitShape<typeof BulkJobsRefusalSchema>;
