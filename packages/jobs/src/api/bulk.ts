import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { Fault, type Id, isWithin, optionalId, type ProjectPrincipal, parseId, requireProject } from "@svc/core";
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
import { attemptsMax } from "../drive/start/retry-job.ts";
import { jobFaults } from "../errors.ts";
import { isEnd, isRetryable } from "../state/statuses.ts";
import { retryOne } from "./attempts.ts";
import type { JobsContext } from "./context.ts";
import { readListed, readListedFilter, walkedMax } from "./listed.ts";

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
/** Part of this time in which a call looks for the jobs of a filter, in milliseconds. The rest is for their change. */
const chooseMsMax = 10_000;

/** A job to change, as it was found. */
type ChosenJob = Pick<JobRecord, "id" | "attempt">;

/**
 * An action on jobs: the statuses of the jobs that it can change, the jobs that it leaves out, and the change of one job. `isSpent`: true if
 * the job refuses the action from now on. A filter leaves such a job out, because it would take the place of another job in every call.
 */
type Action = {
  readonly word: string;
  readonly statuses: readonly JobStatus[];
  readonly isMeant: (job: JobRecord, untilMs: number) => boolean;
  readonly isSpent: (job: JobRecord) => boolean;
  readonly change: (context: JobsContext, principal: ProjectPrincipal, job: ChosenJob) => Promise<unknown>;
};

const actions: ReadonlyMap<BulkJobsAction, Action> = new Map<BulkJobsAction, Action>([
  [
    BulkJobsAction.RETRY,
    {
      word: "retried",
      statuses: jobStatuses.filter(isRetryable),
      isMeant: ({ mode, parentJobId, finishedAt }, untilMs) =>
        mode === "live" && parentJobId === null && finishedAt !== null && finishedAt < untilMs,
      isSpent: ({ attempt }) => attempt >= attemptsMax,
      change: retryChosen,
    },
  ],
  [
    BulkJobsAction.CANCEL,
    {
      word: "cancelled",
      statuses: jobStatuses.filter((status) => !isEnd(status)),
      isMeant: ({ createdAt, cancelRequestedAt }, untilMs) => cancelRequestedAt === null && createdAt < untilMs,
      isSpent: () => false,
      change: cancelOne,
    },
  ],
]);

/** Retries a job once for the attempt that was found. If two calls find the same attempt, the second one starts no other attempt. */
function retryChosen(context: JobsContext, principal: ProjectPrincipal, { id, attempt }: ChosenJob) {
  const idempotencyKey = `bulk-${id}-${attempt}`;
  return retryOne(context, principal, create(RetryJobRequestSchema, { id, idempotencyKey }));
}

async function cancelOne({ db, clock, engine }: JobsContext, principal: ProjectPrincipal, { id: jobId }: ChosenJob) {
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
      const startMs = context.clock.now();
      const isOver = (ms: number) => ctx.signal.aborted || context.clock.now() >= startMs + ms;
      const after = optionalId("job", "after", request.after);
      const { jobs, next } = await chooseJobs(context, principal, { request, action, untilMs, after, isOver });
      const shared = { matched: jobs.length, until: timestampFromMs(untilMs) };
      if (request.dryRun) {
        return create(BulkJobsResponseSchema, {
          ...shared,
          hasMore: next !== undefined,
          next: next ?? "",
          summary: `counted ${jobsText(jobs.length)}`,
        });
      }
      const { begun, ...result } = await changeJobs(context, principal, { jobs, action, isOver });
      // If the call stopped early, the next one continues after the last job that was begun.
      const last = begun < jobs.length ? (jobs[begun - 1]?.id ?? after) : next;
      const summary = `${action.word} ${result.done} of ${jobsText(jobs.length)}`;
      return create(BulkJobsResponseSchema, {
        ...shared,
        ...result,
        hasMore: last !== undefined,
        next: last ?? "",
        summary,
      });
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

/** Returns true if the caller has disconnected, or if the call has taken this time in milliseconds. */
type IsOver = (ms: number) => boolean;
type Choice = {
  readonly request: BulkJobsRequest;
  readonly action: Action;
  readonly untilMs: number;
  /** The choice has only jobs that are older than this one. If undefined, it begins at the newest job. */
  readonly after: Id<"job"> | undefined;
  readonly isOver: IsOver;
};
/** The chosen jobs. `next`: the last job that was chosen or read, if the search stopped before the oldest job. */
type Chosen = { readonly jobs: readonly ChosenJob[]; readonly next: Id<"job"> | undefined };

/** Returns the jobs that a request means and its action can change, newest first. */
async function chooseJobs(context: JobsContext, principal: ProjectPrincipal, choice: Choice): Promise<Chosen> {
  const { request, action, untilMs, after } = choice;
  const { projectId, binding } = principal;
  if (request.filter !== undefined) return chooseListed(context, principal, request.filter, choice);
  const asked = [...new Set(request.jobIds.flatMap((id) => parseId("job", id) ?? []))];
  const found = (await loadJobs(context.db, asked)).filter(
    (job) =>
      job.projectId === projectId &&
      (after === undefined || job.id < after) &&
      isWithin(job, binding) &&
      action.statuses.includes(job.status) &&
      action.isMeant(job, untilMs),
  );
  return { jobs: found.sort((a, b) => (a.id < b.id ? 1 : -1)), next: undefined };
}

async function chooseListed(
  context: JobsContext,
  principal: ProjectPrincipal,
  asked: ListJobsRequest,
  { action, untilMs, isOver, after: start }: Choice,
): Promise<Chosen> {
  const filter = readListedFilter(asked);
  const statuses = action.statuses.filter((one) => filter.statuses?.includes(one) ?? true);
  const jobs: ChosenJob[] = [];
  if (statuses.length === 0) return { jobs, next: undefined };
  let after = start;
  for (let read = 0; read < readMax; ) {
    const page = { after, size: pageSize };
    const { rows, walkedTo, size = pageSize } = await readListed(context, principal, { ...filter, statuses }, page);
    const shown = rows.slice(0, size);
    for (const job of shown) {
      // The program of a job can be large, so only the needed fields are kept.
      if (action.isMeant(job, untilMs) && !action.isSpent(job)) jobs.push({ id: job.id, attempt: job.attempt });
    }
    after = rows.length > size ? shown.at(-1)?.id : walkedTo;
    if (jobs.length > jobsMax) return { jobs: jobs.slice(0, jobsMax), next: jobs[jobsMax - 1]?.id };
    if (after === undefined || isOver(chooseMsMax)) break;
    read += walkedTo === undefined ? pageSize : walkedMax;
  }
  return { jobs, next: after };
}

type Work = Pick<Choice, "action" | "isOver"> & Pick<Chosen, "jobs">;

/**
 * Changes the jobs, some at the same time. Stops early if the caller disconnects or if the time is over, but begins at least one job, so
 * that each call makes progress. `begun`: number of jobs that were begun, in their order.
 */
async function changeJobs(
  context: JobsContext,
  principal: ProjectPrincipal,
  { jobs, action, isOver }: Work,
): Promise<Pick<BulkJobsResponse, "done" | "refused"> & { readonly refusals: Refusal[]; readonly begun: number }> {
  const refusals: Refusal[] = [];
  let [done, refused, next] = [0, 0, 0];
  const worker = async () => {
    while (next < jobs.length && (next === 0 || !isOver(workMsMax))) {
      const job = jobs[next++];
      if (job === undefined) return;
      const jobId = job.id;
      try {
        await action.change(context, principal, job);
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
  return { done, refused, refusals, begun: next };
}

type Refusal = MessageInitShape<typeof BulkJobsRefusalSchema>;
