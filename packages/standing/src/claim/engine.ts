import { type ProjectId, parseId, type StandingProgramId } from "@svc/core";
import { withTransaction } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import { requestJobCancel } from "@svc/db/jobs/hold";
import { armLostBackfills } from "@svc/db/standing/backfills";
import { type ClaimedDueTask, claimDueTasks } from "@svc/db/standing/claim";
import { wakeWaitingStandingRuns } from "@svc/db/standing/end";
import { type ClaimedInboxEvent, claimInbox, releaseInboxLeases } from "@svc/db/standing/inbox";
import type { NewStandingRun } from "@svc/db/standing/runs";
import { armLostStandingPrograms } from "@svc/db/standing/sweep";
import { deleteDueTasks, releaseDueTasks } from "@svc/db/standing/task";
import type { Occurrence } from "../decide/occurrence.ts";
import { createPoller, type Poller } from "./poller.ts";
import type { Polled } from "../poll/store.ts";
import { type Decided, decideBatch } from "../decide/decide-batch.ts";
import type { StandingContext } from "../context.ts";
import { type DecisionBatch, emptyBatch } from "../prepare/due.ts";
import { Herds } from "./bursts.ts";
import { StaleBatchError } from "../decide/load.ts";
import { prepare } from "../prepare/prepare.ts";
import { batchAfter, NearBoundError } from "../decide/errors.ts";
import { storeBatch } from "../store/store.ts";
import { rearmZones } from "./zones.ts";

/** The engine of standing programs of one node. */
export type StandingEngine = {
  /** Begins to look for what is due. */
  start(): void;
  /** Looks now: told after a commit that made something due. */
  wake(): void;
  /** Decides about a call at once; undefined where the program is gone or not active. */
  call(programId: StandingProgramId, occurrence: Occurrence): Promise<NewStandingRun | undefined>;
  /** Looks for nothing more, and ends what it is at. */
  stop(): Promise<void>;
};

const retryMinMs = 1_000;
const retryMaxMs = 60_000;
/** Attempts at an event, or at a time of a schedule, after which its runs are refused. */
const attemptsMax = 5;
/** How often it is looked for schedules that no task stands for. */
const rearmMs = 60_000;
/** Schedules that are armed again at once. */
const rearmMax = 1_000;

/** Makes the engine of a node. It is not started. */
export function createStandingEngine(context: StandingContext): StandingEngine {
  const stopped = new AbortController();
  let pause = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const wake = () => pause.abort("woken");
  const { clock, limits, observer } = context;
  const poller = createPoller(context, async (polled) => {
    const decided = await decideWithout(context, { ...emptyBatch, polls: [polled] });
    tellPoll(context, polled, decided);
  });

  async function lookLoop(): Promise<void> {
    const events: EventLook = { after: undefined };
    const herds = new Herds(limits.batchMax);
    while (!stopped.signal.aborted) {
      pause = new AbortController();
      const { signal } = pause;
      // Both each time: neither a herd of schedules nor a storm of events keeps the other waiting.
      const hasDue = await look(context, poller, herds);
      const hasFound = (await lookForEvents(context, events)) || hasDue;
      if (!hasFound && !stopped.signal.aborted)
        await clock.wait(limits.pollMs, AbortSignal.any([signal, stopped.signal]));
    }
  }

  async function rearmLoop(): Promise<void> {
    while (!stopped.signal.aborted) {
      await clock.wait(rearmMs, stopped.signal);
      if (stopped.signal.aborted) return;
      try {
        const programs = await armLostStandingPrograms(context.db, clock.now() - rearmMs, rearmMax);
        const count = programs + (await armLostBackfills(context.db, clock.now(), rearmMax));
        if (count > 0) observer.rearmed(count);
      } catch (error) {
        observer.failed("claim", error);
      }
    }
  }

  /** Nothing is claimed before: what is armed by older time zone data is not due when it says. */
  async function rearmFirst(): Promise<void> {
    while (!stopped.signal.aborted) {
      try {
        await rearmZones(context);
        return;
      } catch (error) {
        observer.failed("claim", error);
        await clock.wait(retryMinMs, stopped.signal);
      }
    }
  }

  return {
    start() {
      running = rearmFirst().then(() => Promise.all([lookLoop(), rearmLoop()]));
    },
    wake,
    async call(programId, occurrence) {
      const decided = await decide(context, { ...emptyBatch, calls: [{ programId, occurrence }] });
      wake();
      return decided[0]?.called[0];
    },
    async stop() {
      stopped.abort();
      await running;
      await poller.stop();
    },
  };
}

/**
 * One look for what is due; whether it found anything, and so is to look again at once. Where two nodes look at one time one of them
 * finds less than it takes: that less than a batch was found does not say that nothing is left.
 */
async function look(context: StandingContext, poller: Poller, herds: Herds): Promise<boolean> {
  const { db, clock, limits, nodeId: owner, observer } = context;
  try {
    const nowMs = clock.now();
    const limit = limits.batchMax;
    const { tasks, replays } = await claimDueTasks(db, { owner, nowMs, leaseUntilMs: nowMs + limits.leaseMs, limit });
    if (replays.length > 0) context.takeReplays(replays);
    if (tasks.length === 0) return replays.length === limit;
    await context.sealer.ready(tasks.map(({ projectId }) => projectId));
    const behindMs = herds.seen(tasks, nowMs);
    const cancels = tasks.filter(({ kind }) => kind === "cancel");
    await poller.take(tasks.filter(({ kind }) => kind === "poll"));
    await decideOrSplit(
      context,
      tasks.filter(({ kind }) => kind !== "cancel" && kind !== "poll" && kind !== "backfill"),
      behindMs,
    );
    // Each looks through much: what is due by itself is not to wait for several of them.
    for (const task of tasks) if (task.kind === "backfill") await decideOrSplit(context, [task], behindMs);
    for (const task of cancels) await cancelJob(context, task);
    return true;
  } catch (error) {
    observer.failed("claim", error);
    return false;
  }
}

/**
 * What fails as a whole is tried program by program, and task by task, so that what is at fault fails alone; that is tried again, later each
 * time. A time of a schedule that fails again and again is refused, and the next one is tried.
 */
async function decideOrSplit(
  context: StandingContext,
  tasks: readonly ClaimedDueTask[],
  behindMs: ReadonlyMap<ProjectId, number>,
): Promise<void> {
  const [first] = tasks;
  if (first === undefined) return;
  const isRefused = tasks.length === 1 && first.attempt > attemptsMax;
  try {
    await (tasks.length === 1 ? decideWithout : decide)(context, { ...emptyBatch, tasks, isRefused, behindMs });
  } catch (error) {
    const byProgram = [...Map.groupBy(tasks, ({ ownerId }) => ownerId).values()];
    const parts = byProgram.length > 1 ? byProgram : tasks.map((task) => [task]);
    if (parts.length > 1 && !isUnavailable(error)) {
      for (const part of parts) await decideOrSplit(context, part, behindMs);
      return;
    }
    context.observer.failed("decide", error);
    const attempt = Math.max(...tasks.map((task) => task.attempt));
    const waitMs = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(attempt - 1, 10));
    // Where the store is away, leases run out by themselves.
    await releaseDueTasks(context.db, tasks, context.clock.now() + waitMs).catch((releaseError: unknown) => {
      context.observer.failed("decide", releaseError);
    });
  }
}

/** From after which project on the next look for events begins. */
type EventLook = { after: ProjectId | undefined };

/** Decides about a batch of one program; where starts fail, what fails waits, and the rest is decided about. */
async function decideWithout(context: StandingContext, batch: DecisionBatch): Promise<readonly Decided[]> {
  try {
    return await decide(context, batch);
  } catch (error) {
    const next = batchAfter(batch, error);
    if (next === undefined) throw error;
    context.observer.failed("decide", error);
    return decideWithout(context, next);
  }
}

/** One look for events that programs listen to; whether it found any, as `look`. */
async function lookForEvents(context: StandingContext, look: EventLook): Promise<boolean> {
  const { db, clock, limits, nodeId: owner, observer } = context;
  try {
    const nowMs = clock.now();
    const limit = limits.batchMax;
    const request = { owner, nowMs, leaseUntilMs: nowMs + limits.leaseMs, limit };
    const { arrivals, next } = await claimInbox(db, { ...request, after: look.after });
    look.after = next;
    if (arrivals.length === 0) return false;
    await context.sealer.ready(arrivals.map(({ projectId }) => projectId));
    await context.onFaultPoint?.("arrivals-claimed");
    await hearOrSplit(context, arrivals);
    return true;
  } catch (error) {
    observer.failed("claim", error);
    return false;
  }
}

/** What fails as a whole is tried event by event; one that fails again and again is refused, and keeps nobody from the others. */
async function hearOrSplit(context: StandingContext, arrivals: readonly ClaimedInboxEvent[]): Promise<void> {
  const [first] = arrivals;
  if (first === undefined) return;
  const isRefused = arrivals.length === 1 && first.attempt > attemptsMax;
  try {
    await decide(context, { ...emptyBatch, arrivals, isRefused });
  } catch (error) {
    if (arrivals.length > 1 && !isUnavailable(error)) {
      for (const arrival of arrivals) await hearOrSplit(context, [arrival]);
      return;
    }
    context.observer.failed("decide", error);
    const attempt = Math.max(...arrivals.map((arrival) => arrival.attempt));
    await release(context, arrivals, Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(attempt - 1, 10)));
  }
}

/** Where the store is away, leases run out by themselves. */
async function release(
  context: StandingContext,
  arrivals: readonly ClaimedInboxEvent[],
  waitMs: number,
): Promise<void> {
  await releaseInboxLeases(context.db, arrivals, context.clock.now() + waitMs).catch((error: unknown) => {
    context.observer.failed("decide", error);
  });
}

/** How often what programs have moved on from is looked at again. */
const staleMax = 3;

/** Decides about a batch in one transaction, and tells of it. */
async function decide(context: StandingContext, batch: DecisionBatch, tries = 1): Promise<readonly Decided[]> {
  const { db, clock, starter, onFaultPoint } = context;
  const prepared = await prepare(context, batch);
  let decided: readonly Decided[];
  let hasNotices = false;
  try {
    decided = await withTransaction(db, async (tx) => {
      const all = await decideBatch(context, tx, batch, prepared);
      ({ hasNotices } = await storeBatch(context, tx, { ...all, behindMs: batch.behindMs }));
      await onFaultPoint?.("before-decided");
      return all.decided;
    });
  } catch (error) {
    if (error instanceof StaleBatchError && tries < staleMax) return decide(context, batch, tries + 1);
    if (error instanceof NearBoundError) return decide(context, { ...batch, isAlone: true }, tries);
    throw error;
  }
  if (prepared.left.length > 0) await release(context, prepared.left, 0);
  await onFaultPoint?.("after-decided");
  // Jobs that are to begin later are found by a look at its time.
  if (decided.some(({ program, book }) => book.starts.length > 0 && !batch.behindMs?.has(program.projectId)))
    starter.wake();
  if (hasNotices) context.wakeDeliveries();
  tell(context, decided);
  // Where one ended, others of the project may wait for it.
  const ended = Map.groupBy(
    decided.filter(({ counted }) => counted.length > 0),
    ({ program }) => program.projectId,
  );
  for (const [projectId, own] of ended) {
    const most = own.reduce((sum, { counted }) => sum + counted.length, 0);
    await wakeWaitingStandingRuns(db, { projectId, most, nowMs: clock.now() });
  }
  return decided;
}

function tell({ observer, clock }: StandingContext, decided: readonly Decided[]): void {
  const nowMs = clock.now();
  for (const { program, book } of decided) {
    const { id: programId, projectId } = program;
    const made = [...book.runs.decided, ...book.declined];
    for (const { id: runId, version, kind, state, reason, count, jobId, fireAt, backfillId } of made) {
      const of = { runId, programId, projectId, version, kind, state, reason, count };
      observer.decided({
        ...of,
        jobId: jobId ?? undefined,
        backfillId: backfillId ?? undefined,
        lagMs: nowMs - fireAt,
      });
    }
    if (book.state === "paused" && program.state !== "paused") observer.paused(programId, book.pauseReason);
  }
}

function tellPoll({ observer, clock }: StandingContext, polled: Polled, decided: readonly Decided[]): void {
  if (decided.length === 0) return;
  const { programId, loaded, atMs, record } = polled;
  const { projectId, outcome, code, pages, rows, found, failuresInRow } = record;
  const { version } = loaded.record;
  const durationMs = clock.now() - atMs;
  observer.polled({ programId, projectId, version, outcome, code, pages, rows, found, failuresInRow, durationMs });
}

/** Asks a job to end that a newer run takes the place of. */
async function cancelJob({ db, clock, starter, observer }: StandingContext, task: ClaimedDueTask): Promise<void> {
  const { ownerId, projectId, subject } = task;
  try {
    const jobId = parseId("job", subject);
    if (jobId !== undefined) {
      await requestJobCancel(db, { jobId, projectId, chain: [`standing:${ownerId}`], nowMs: clock.now() });
      starter.cancel(jobId);
      starter.wake();
    }
    await deleteDueTasks(db, [task]);
  } catch (error) {
    observer.failed("cancel", error);
  }
}
