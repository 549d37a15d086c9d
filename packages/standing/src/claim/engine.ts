import { beginSpan, claimSpan, Fault, type ProjectId, parseId, type StandingProgramId } from "@svc/core";
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
import type { StandingContext } from "../context.ts";
import { type DecidedProgram, decideBatch } from "../decide/decide.ts";
import { NearBoundError, StaleBatchError, StartsError } from "../decide/errors.ts";
import type { Occurrence } from "../decide/occurrence.ts";
import type { FinishedPoll } from "../poll/store.ts";
import { prepare } from "../prepare/prepare.ts";
import type { DecisionBatch } from "../sources/source.ts";
import { storeBatch } from "../store/store.ts";
import { Bursts } from "./bursts.ts";
import { createPoller, type Poller } from "./poller.ts";
import { rearmZones } from "./zones.ts";

/**
 * The engine of standing programs (which start jobs on a schedule or event) on one node. It takes due tasks and events from the database,
 * and decides which runs they start.
 */
export type StandingEngine = {
  /** Starts to claim due tasks and events, and to decide about them. */
  start(): void;
  /** Makes the engine look for due tasks and events at once. The caller uses it after a commit that made a task or an event due. */
  wake(): void;
  /**
   * Handles an API call that starts a schedule now. Decides at once whether the new run starts, waits, is skipped or is refused, and
   * returns that run. Returns undefined if the schedule does not exist or is not active.
   */
  call(programId: StandingProgramId, occurrence: Occurrence): Promise<NewStandingRun | undefined>;
  /** Stops claiming. Resolves when the work in progress has ended. */
  stop(): Promise<void>;
};

const retryMinMs = 1_000;
const retryMaxMs = 60_000;
/**
 * Maximum number of attempts to decide if an event or a scheduled time starts a run. After the last failed attempt, svc refuses the run.
 */
const attemptsMax = 5;
/**
 * Interval in milliseconds at which svc looks for schedules whose task for the next start is missing. Without a task, a schedule would
 * never start again.
 */
const rearmMs = 60_000;
/** Maximum number of schedules to which one search adds their missing task. */
const rearmMax = 1_000;

const emptyBatch: DecisionBatch = { tasks: [], arrivals: [], calls: [], polls: [] };

/**
 * Creates the engine that starts the runs of standing programs (programs that start jobs on a schedule or event) on one node. The caller
 * starts the engine.
 */
export function createStandingEngine(context: StandingContext): StandingEngine {
  const stopped = new AbortController();
  let pause = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const wake = () => pause.abort("woken");
  const { clock, limits, observer } = context;
  const poller = createPoller(context, async (polled) => {
    const decided = await decideWithoutFailed(context, { ...emptyBatch, polls: [polled] });
    reportPoll(context, polled, decided);
  });

  async function claimLoop(): Promise<void> {
    const events: EventClaim = { after: undefined };
    const bursts = new Bursts(limits.batchMax);
    while (!stopped.signal.aborted) {
      pause = new AbortController();
      const { signal } = pause;
      // Each round claims tasks and then events, so many due tasks do not delay events, and many events do not delay tasks.
      const hasDue = await claimTasks(context, poller, bursts);
      const hasFound = (await claimEvents(context, events)) || hasDue;
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

  /**
   * Computes the next due times of all schedules with the time zone data of this node, before the node claims any work. A version of svc
   * with older time zone data may have computed wrong times.
   */
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
      running = rearmFirst().then(() => Promise.all([claimLoop(), rearmLoop()]));
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
 * Claims one batch of due tasks and decides which schedules start jobs. Returns true if it found tasks; the caller then claims again at
 * once. It does so even if the batch was not full: a claim leaves out tasks that another node is claiming at this moment, so more tasks may
 * be due.
 */
async function claimTasks(context: StandingContext, poller: Poller, bursts: Bursts): Promise<boolean> {
  const { db, clock, limits, nodeId: owner, observer } = context;
  try {
    const nowMs = clock.now();
    const limit = limits.batchMax;
    const { tasks, replays } = await claimDueTasks(db, { owner, nowMs, leaseUntilMs: nowMs + limits.leaseMs, limit });
    if (replays.length > 0) context.takeReplays(replays);
    if (tasks.length === 0) return replays.length === limit;
    beginSpan(claimSpan, { of: "schedules", claimed: tasks.length, tookMs: clock.now() - nowMs })?.end();
    await context.sealer.ready(tasks.map(({ projectId }) => projectId));
    const delayMs = bursts.delaysOf(tasks, nowMs);
    const cancels = tasks.filter(({ kind }) => kind === "cancel");
    await poller.take(tasks.filter(({ kind }) => kind === "poll"));
    const work: ClaimedWork<ClaimedDueTask> = {
      batchOf: (tasks) => ({ ...emptyBatch, tasks, delayMs }),
      groupOf: ({ ownerId }) => ownerId,
      release: (tasks, dueAtMs) => releaseDueTasks(db, tasks, dueAtMs),
    };
    const others = tasks.filter(({ kind }) => kind !== "cancel" && kind !== "poll" && kind !== "backfill");
    await decideOrSplit(context, others, work);
    // Backfills are decided one at a time, because each takes long and must not delay the other tasks.
    for (const task of tasks) if (task.kind === "backfill") await decideOrSplit(context, [task], work);
    for (const task of cancels) await cancelJob(context, task);
    return true;
  } catch (error) {
    observer.failed("claim", error);
    return false;
  }
}

/** A kind of claimed work (for example tasks or events). Its functions are used to decide which runs of schedules the work starts. */
type ClaimedWork<Item> = {
  batchOf(items: readonly Item[]): DecisionBatch;
  /**
   * Returns the name of the group to which a claimed item (task or event) belongs. Items are processed together in one transaction. If it
   * fails, svc processes each group in a transaction of its own.
   */
  groupOf(item: Item): string;
  release(items: readonly Item[], dueAtMs: number): Promise<unknown>;
};

/**
 * Decides in one transaction which runs start for the claimed items (due times and events). If that fails, tries each group of items, and
 * then each item alone. An item that still fails is tried again later.
 */
async function decideOrSplit<Item extends { readonly attempt: number }>(
  context: StandingContext,
  items: readonly Item[],
  work: ClaimedWork<Item>,
): Promise<void> {
  const [first] = items;
  if (first === undefined) return;
  const isRefused = items.length === 1 && first.attempt > attemptsMax;
  try {
    await (items.length === 1 ? decideWithoutFailed : decide)(context, { ...work.batchOf(items), isRefused });
  } catch (error) {
    const groups = [...Map.groupBy(items, work.groupOf).values()];
    const parts = groups.length > 1 ? groups : items.map((item) => [item]);
    if (parts.length > 1 && !isUnavailable(error)) {
      for (const part of parts) await decideOrSplit(context, part, work);
      return;
    }
    context.observer.failed("decide", error);
    const attempt = Math.max(...items.map((item) => item.attempt));
    const waitMs = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(attempt - 1, 10));
    // If the release fails too (the database is unavailable), the leases of the items expire by themselves.
    await work.release(items, context.clock.now() + waitMs).catch((releaseError: unknown) => {
      context.observer.failed("decide", releaseError);
    });
  }
}

/** The project whose events were claimed last. The next claim begins with the project after this one. */
type EventClaim = { after: ProjectId | undefined };

/**
 * Decides which runs of a batch start. If a run cannot start, decides again and lets this run wait. Returns the programs about which a
 * decision was stored.
 */
async function decideWithoutFailed(context: StandingContext, batch: DecisionBatch): Promise<readonly DecidedProgram[]> {
  try {
    return await decide(context, batch);
  } catch (error) {
    const next = batchAfter(batch, error);
    if (next === undefined) throw error;
    context.observer.failed("decide", error);
    return decideWithoutFailed(context, next);
  }
}

/**
 * Takes one batch of events of subscribed triggers. For each event and schedule, decides if a run starts, waits or is skipped. Returns true
 * if the batch contains events, and false if no event was due.
 */
async function claimEvents(context: StandingContext, position: EventClaim): Promise<boolean> {
  const { db, clock, limits, nodeId: owner, observer } = context;
  try {
    const nowMs = clock.now();
    const limit = limits.batchMax;
    const request = { owner, nowMs, leaseUntilMs: nowMs + limits.leaseMs, limit };
    const { events: arrivals, next } = await claimInbox(db, { ...request, after: position.after });
    position.after = next;
    if (arrivals.length === 0) return false;
    beginSpan(claimSpan, { of: "events", claimed: arrivals.length, tookMs: clock.now() - nowMs })?.end();
    await context.sealer.ready(arrivals.map(({ projectId }) => projectId));
    await context.onFaultPoint?.("arrivals-claimed");
    await decideOrSplit<ClaimedInboxEvent>(context, arrivals, {
      batchOf: (arrivals) => ({ ...emptyBatch, arrivals }),
      groupOf: ({ projectId, eventId }) => `${projectId} ${eventId}`,
      release: (arrivals, dueAtMs) => releaseInboxLeases(db, arrivals, dueAtMs),
    });
    return true;
  } catch (error) {
    observer.failed("claim", error);
    return false;
  }
}

/**
 * Maximum number of repeated preparations of a batch (tasks and events that are decided in one transaction). A preparation is repeated if a
 * schedule of the batch changed in the meantime.
 */
const staleMax = 3;

/**
 * Decides for a batch of due programs and events which runs start, wait or are skipped. One transaction stores all decisions. Afterwards,
 * the observer is notified of each decision. Returns the programs about which it decided.
 */
async function decide(context: StandingContext, batch: DecisionBatch, tries = 1): Promise<readonly DecidedProgram[]> {
  const { db, clock, starter, observer, onFaultPoint } = context;
  const prepared = await prepare(context, batch);
  let decided: readonly DecidedProgram[];
  let hasDeliveries = false;
  try {
    decided = await withTransaction(db, async (tx) => {
      const all = await decideBatch(context, tx, batch, prepared);
      const stored = { ...all, sources: prepared.sources, delayMs: batch.delayMs };
      ({ hasDeliveries } = await storeBatch(context, tx, stored));
      await onFaultPoint?.("before-decided");
      return all.decided;
    });
  } catch (error) {
    if (error instanceof StaleBatchError && tries < staleMax) return decide(context, batch, tries + 1);
    if (error instanceof NearBoundError) return decide(context, { ...batch, isAlone: true }, tries);
    throw error;
  }
  const left = prepared.sources.flatMap((source) => source.left ?? []);
  // If the release fails, the leases of the events expire by themselves.
  await releaseInboxLeases(db, left, clock.now()).catch((error: unknown) => observer.failed("decide", error));
  await onFaultPoint?.("after-decided");
  // The engine of jobs must be woken for jobs that start now. It claims delayed jobs by itself when their time comes.
  if (decided.some(({ program, decisions }) => decisions.starts.length > 0 && !batch.delayMs?.has(program.projectId)))
    starter.wake();
  if (hasDeliveries) context.wakeDeliveries();
  report(context, decided);
  // After a run has ended, the project may have one more unfinished run. So waiting runs of the project's other programs are checked.
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

function report({ observer, clock }: StandingContext, decided: readonly DecidedProgram[]): void {
  const nowMs = clock.now();
  for (const { program, decisions } of decided) {
    const { id: programId, projectId } = program;
    const made = [...decisions.runs.decided, ...decisions.declined];
    for (const { id: runId, version, kind, state, reason, count, jobId, fireAt, backfillId } of made) {
      const of = { runId, programId, projectId, version, kind, state, reason, count };
      observer.decided({
        ...of,
        jobId: jobId ?? undefined,
        backfillId: backfillId ?? undefined,
        lagMs: nowMs - fireAt,
      });
    }
    if (decisions.state === "paused" && program.state !== "paused") observer.paused(programId, decisions.pauseReason);
  }
}

function reportPoll(
  { observer, clock }: StandingContext,
  polled: FinishedPoll,
  decided: readonly DecidedProgram[],
): void {
  if (decided.length === 0) return;
  const { programId, loaded, atMs, record } = polled;
  const { projectId, outcome, code, pages, rows, found, failuresInRow } = record;
  const { version } = loaded.record;
  const durationMs = clock.now() - atMs;
  observer.polled({ programId, projectId, version, outcome, code, pages, rows, found, failuresInRow, durationMs });
}

/** Maximum number of failed starts of runs that svc records in one transaction. */
const unstartedMax = 10;

/** Returns the batch for the next attempt after some of its runs could not be started. Returns undefined if another attempt cannot help. */
function batchAfter(batch: DecisionBatch, error: unknown): DecisionBatch | undefined {
  if (!(error instanceof StartsError)) return undefined;
  const { tasks, polls, calls, arrivals, startsMax, unstarted = new Map() } = batch;
  // Only failures of waiting runs and of polls are handled here. For schedules and events, svc refuses the runs after too many attempts. A
  // call returns its error to the caller.
  const isOther = calls.length + arrivals.length > 0 || tasks.some(({ kind }) => kind === "fire");
  if (isOther || new Set(error.runs.map(({ programId }) => programId)).size !== 1) return undefined;
  const isAdmit = polls.length === 0 && tasks.every(({ kind }) => kind === "admit");
  // Any of these waiting runs may have failed. The next attempt starts only one, so that svc finds the run that fails.
  if (isAdmit && error.runs.length > 1) return startsMax === 1 ? undefined : { ...batch, startsMax: 1 };
  const names = error.runs.map(({ sourceKey }) => sourceKey);
  if (names.every((name) => unstarted.has(name))) return undefined;
  const noted = new Map([...unstarted, ...names.map((name) => [name, detailOf(error.cause)] as const)]);
  return { ...batch, unstarted: noted, ...(isAdmit && { startsMax: noted.size < unstartedMax ? 1 : 0 }) };
}

/**
 * Returns a text that explains an error to people. The text does not contain the message of a database error, because that message may
 * contain data.
 */
function detailOf(cause: unknown): string {
  return cause instanceof Fault ? cause.message : "its job could not be created; the log of svc has the reason";
}

/**
 * Cancels the job of a run, for example because a newer run has replaced the run, or because a caller has deleted the schedule. The claimed
 * task names the job.
 */
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
