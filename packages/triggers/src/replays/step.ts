import { type Allowance, allowanceOf, type Clock, createId } from "@svc/core";
import { type Database, type Executor, withTransaction } from "@svc/db/connect";
import { enqueueDeliveries } from "@svc/db/deliveries/enqueue";
import { unparkDeliveries } from "@svc/db/deliveries/expire";
import type { EventMatch } from "@svc/db/events/follow";
import { findReplayMatches } from "@svc/db/replays/match";
import { type ClaimedReplay, type ReplayRecord, replayLease } from "@svc/db/replays/repo";
import {
  findFreeDeliverySlots,
  lockReplay,
  moveReplay,
  type ReplayedSubscription,
  readReplayedSubscriptions,
} from "@svc/db/replays/step";
import { deleteDueTasks, holdDueTasks, moveDueTasks } from "@svc/db/standing/task";
import { acceptedPairs, countAccepted, type FilteringContext } from "../filters/pairs.ts";
import type { ReplayStep } from "./observer.ts";
import { turnMs } from "./pace.ts";
import type { Hindrance } from "./plan.ts";

/**
 * The deliveries that one step of a replay queues. Deliveries are queued in order, up to the first delivery that must wait. `hindrance`:
 * the reason why this delivery must wait; undefined if all can be queued.
 */
type StepPlan = { readonly queue: readonly EventMatch[]; readonly hindrance: Hindrance | undefined };

/** Maximum time until an endpoint in backoff is checked again, in milliseconds. */
const backoffWaitMs = 30_000;

/** A replay may have as many pending deliveries for one subscription as it queues in this number of seconds. */
const pendingSeconds = 10;

/**
 * The rhythm of a throttled replay. For one turn, a node holds the task of the replay. Within the turn it makes several steps, and queues
 * some deliveries in each.
 */
type StepPace = {
  /** Milliseconds between two steps of a replay. In each step, svc queues some of the replay's deliveries. */
  readonly pauseMs: number;
  /** Maximum number of deliveries that one step of a replay queues. It is twice the usual number, so that a late replay can catch up. */
  readonly most: number;
};

/**
 * Maximum pace, in deliveries per second, at which a replay queues all deliveries of a second in one step. At a higher pace, the deliveries
 * of a second are queued in several steps, so that they are spread more evenly.
 */
const burst = 50;

const stepsMax = 10;

/** Points where tests interrupt a step of a replay (repeated deliveries of past events), or end the process. */
export type ReplayFaultPoint = "before-queued" | "after-queued";

/** Dependencies of replay steps. */
export type ReplayContext = {
  readonly db: Database;
  readonly clock: Clock;
  readonly filters: FilteringContext["filters"];
  /** For tests: called at each fault point of a step, where a test may end the node. */
  readonly onFaultPoint?: ((point: ReplayFaultPoint) => Promise<void> | void) | undefined;
};

/**
 * Maximum number of reads of events in one step of a replay (repeated deliveries of past events). The step reads more events only while it
 * has found too few deliveries to queue.
 */
const walksMax = 10;
/**
 * Number of events that a replay's step first reads for each delivery that the step may queue. `walkMin`: minimum for the first read.
 * `walkGrowth`: factor for each further read.
 */
const walkFactor = 2;
const walkMin = 100;
const walkGrowth = 8;
/** Minimum number of pairs of event and subscription to read at once, if subscriptions have filters. Filters may leave out most pairs. */
const filteredMin = 1_000;
/**
 * Maximum number of parked deliveries (stored as waiting, without a task, while the subscription was paused) that one step of a replay
 * returns to the queue.
 */
const unparkedMax = 2_000;
/** Interval at which a replay checks if its inactive subscription is active again, in milliseconds. */
const inactiveWaitMs = 5_000;

/**
 * The task of a replay (repeated deliveries of past events) while one node works on it. In this time (a turn), the node makes several
 * steps. `untilMs`: end of the turn; undefined before its first step.
 */
export type ReplayTurn = { readonly task: ClaimedReplay; readonly untilMs?: number };

/**
 * A completed step of a replay (repeated deliveries of past events). `next`: the task and the time of the next step; undefined if this node
 * makes no further step now.
 */
export type SteppedReplay = { readonly step: ReplayStep; readonly next?: { readonly turn: ReplayTurn; atMs: number } };

/**
 * Makes one step of a replay. One transaction queues the next deliveries and stores how far the replay has come. So each delivery is queued
 * exactly once, even if a node dies. Returns undefined if the replay is not running, or if another node may have taken its task.
 */
export async function stepReplay(context: ReplayContext, turn: ReplayTurn): Promise<SteppedReplay | undefined> {
  const { task } = turn;
  const stepped = await withTransaction(context.db, async (tx): Promise<SteppedReplay | undefined> => {
    const replay = await lockReplay(tx, task.id);
    const lease = replayLease(task);
    if ((await holdDueTasks(tx, [lease])).length === 0) return undefined;
    if (replay === undefined || replay.state !== "running") {
      await deleteDueTasks(tx, [lease]);
      return undefined;
    }
    const nowMs = context.clock.now();
    const isFirst = turn.untilMs === undefined;
    const isLate = isFirst && (task.attempt > 1 || nowMs - replay.updatedAt >= turnMs + stepPaceOf(replay).pauseMs);
    const moved = await queueNext({ ...context, db: tx }, isLate ? withoutLost(replay, nowMs) : replay, {
      nowMs,
      isFirst,
    });
    await moveReplay(tx, moved.replay);
    const next = nextOf(turn, moved, nowMs);
    if (moved.replay.endedAt !== null) await deleteDueTasks(tx, [lease]);
    else if ("dueAt" in next) await moveDueTasks(tx, [{ ...lease, dueAt: next.dueAt }]);
    await context.onFaultPoint?.("before-queued");
    return { step: stepOf(moved), ...(moved.replay.endedAt === null && "turn" in next && { next }) };
  });
  await context.onFaultPoint?.("after-queued");
  return stepped;
}

/** Returns the replay as if it were not late. So it does not send faster than its pace to make up for lost time. */
function withoutLost(replay: ReplayRecord, nowMs: number): ReplayRecord {
  return { ...replay, pacedAt: Math.max(replay.pacedAt, nowMs - stepPaceOf(replay).pauseMs) };
}

/**
 * Returns when and how a replay continues after a step. If the node may still work on the replay, returns the next step and its time.
 * Otherwise returns the time at which the replay's task is due again, for any node.
 */
function nextOf(
  { task, untilMs }: ReplayTurn,
  { replay, againAt }: MovedReplay,
  nowMs: number,
): { readonly dueAt: number } | { readonly turn: ReplayTurn; readonly atMs: number } {
  if (againAt !== undefined) return { dueAt: againAt };
  const { pauseMs } = stepPaceOf(replay);
  const endMs = untilMs ?? nowMs + turnMs;
  const atMs = nowMs + pauseMs;
  if (atMs + pauseMs / 2 < endMs) return { turn: { task, untilMs: endMs }, atMs };
  return { dueAt: Math.max(task.dueAt + turnMs, nowMs + pauseMs / 2) };
}

/**
 * State of a replay after it has queued some deliveries (one step). `count`: number of deliveries queued. `againAt`: time of the next
 * check; undefined if the replay continues at its usual rate.
 */
type MovedReplay = { readonly replay: ReplayRecord; readonly count: number; readonly againAt: number | undefined };

type At = { readonly nowMs: number; readonly isFirst: boolean };

async function queueNext(
  context: FilteringContext,
  replay: ReplayRecord,
  { nowMs, isFirst }: At,
): Promise<MovedReplay> {
  const { db: tx } = context;
  const ended = await findEndOf(tx, replay, nowMs);
  if (ended !== undefined) return ended;
  if (await hasParked(tx, replay, nowMs)) return { replay: { ...replay, updatedAt: nowMs }, count: 0, againAt: nowMs };
  const counted = isFirst ? await countFurther(context, replay) : {};
  const allowance = allowanceOf(replay, nowMs);
  if (allowance.count === 0)
    return { replay: { ...replay, ...counted, updatedAt: nowMs }, count: 0, againAt: allowance.nextAt };
  const found = await findNext(context, replay, Math.min(allowance.count, stepPaceOf(replay).most));
  const ids = [...new Set(found.matches.map(({ subscriptionId }) => subscriptionId))];
  const pendingMax = pendingMaxOf(replay);
  const plan = planStep(found.matches, await readReplayedSubscriptions(tx, ids, pendingMax), { pendingMax, nowMs });
  const { queue, hindrance } = await withinQuota(tx, replay, plan, nowMs);
  const count = await enqueue(tx, replay, queue, nowMs);
  const queued = replay.queued + count;
  const of = { ...replay, ...counted, queued, updatedAt: nowMs };
  if (hindrance !== undefined) return waiting(of, count, { hindrance, at: queue.at(-1), nowMs });
  return { replay: goneOn(of, { found, allowance, used: queue.length, nowMs }), count, againAt: found.againAt(nowMs) };
}

/** Queues some of the deliveries that waited while their subscription was paused. Returns true if more of them may wait. */
async function hasParked(tx: Executor, { ofPause, subscriptionId }: ReplayRecord, nowMs: number): Promise<boolean> {
  if (!ofPause || subscriptionId === null) return false;
  return (await unparkDeliveries(tx, subscriptionId, nowMs, unparkedMax)) >= unparkedMax;
}

/**
 * Checks, for a replay to one subscription, if the subscription can receive events. If the subscription was deleted, returns the replay as
 * ended. If the subscription is inactive, returns the replay as waiting. Returns undefined if the replay can continue.
 */
async function findEndOf(tx: Executor, replay: ReplayRecord, nowMs: number): Promise<MovedReplay | undefined> {
  if (replay.subscriptionId === null) return undefined;
  const [only] = await readReplayedSubscriptions(tx, [replay.subscriptionId], 1);
  const at = { updatedAt: nowMs, pacedAt: nowMs };
  if (only === undefined) {
    const end = { state: "cancelled", reason: "deleted", waitsForId: null, endedAt: nowMs } as const;
    return { replay: { ...replay, ...at, ...end }, count: 0, againAt: undefined };
  }
  if (only.active) return undefined;
  const wait = { reason: "inactive", waitsForId: only.id } as const;
  return { replay: { ...replay, ...at, ...wait }, count: 0, againAt: nowMs + inactiveWaitMs };
}

/**
 * Counts the matching events in the next part of a replay's range, because the whole range may be too large for one count. Each step of the
 * replay counts one part. Returns the changed fields of the replay.
 */
async function countFurther(
  context: FilteringContext,
  replay: ReplayRecord,
): Promise<Pick<ReplayRecord, "total" | "uncountedFromId">> {
  const { total, uncountedFromId } = replay;
  if (uncountedFromId === null) return { total, uncountedFromId };
  const { counts, next } = await countAccepted(context, replay, uncountedFromId);
  const more = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { total: total + more, uncountedFromId: next ?? null };
}

/**
 * The next deliveries that a replay queues. `matches`: pairs of an event and a subscription. `next`: the pair at which the next search
 * continues; undefined at the end of the replay.
 */
type NextMatches = {
  readonly matches: readonly EventMatch[];
  readonly next: EventMatch | undefined;
  againAt(nowMs: number): number | undefined;
};

async function findNext(context: FilteringContext, replay: ReplayRecord, count: number): Promise<NextMatches> {
  let next: EventMatch | undefined = {
    eventId: replay.positionEventId,
    subscriptionId: replay.positionSubscriptionId,
  };
  const matches: EventMatch[] = [];
  // A step first reads only slightly more events than it queues, because usually every event matches.
  let events = Math.max(walkMin, walkFactor * count);
  let isFiltered = false;
  for (let walks = 0; walks < walksMax && next !== undefined && matches.length < count; walks++) {
    const wanted = count - matches.length;
    // Filters may accept few of the pairs, so more pairs than are wanted are read.
    const limit = isFiltered ? Math.max(wanted, filteredMin) : wanted;
    const found = await findReplayMatches(context.db, replay, next, { limit, events });
    const accepted = await acceptedPairs(context, replay.projectId, found);
    matches.push(...accepted.slice(0, wanted));
    next = accepted.length > wanted ? matches.at(-1) : found.next;
    isFiltered = found.filtered.length > 0;
    events *= walkGrowth;
  }
  // True if the reads of this step found too few matches and did not reach the end of the range. The next turn then begins at once, so that
  // a range with few matches is read without pauses.
  const isSparse = next !== undefined && matches.length < count;
  return { matches, next, againAt: (nowMs) => (isSparse ? nowMs : undefined) };
}

/**
 * Returns those deliveries that a replay may queue now. A replay works in steps; `queue` has the deliveries of one step. If the project's
 * quota of pending deliveries does not allow all of them, returns the first ones.
 */
async function withinQuota(
  tx: Executor,
  { projectId }: ReplayRecord,
  { queue, hindrance }: ReturnType<typeof planStep>,
  nowMs: number,
): Promise<ReturnType<typeof planStep>> {
  if (queue.length === 0) return { queue, hindrance };
  const room = await findFreeDeliverySlots(tx, projectId, queue.length);
  if (room >= queue.length) return { queue, hindrance };
  return { queue: queue.slice(0, room), hindrance: { reason: "quota", waitsForId: null, againAt: nowMs + turnMs } };
}

/**
 * Queues deliveries with low priority, in the order of their events and spread over the time until the next step. Returns the number of
 * queued deliveries. It may be smaller than planned, because an event may have been deleted meanwhile.
 */
async function enqueue(
  tx: Executor,
  replay: ReplayRecord,
  queue: readonly EventMatch[],
  nowMs: number,
): Promise<number> {
  if (queue.length === 0) return 0;
  const { projectId } = replay;
  const { pauseMs: spreadMs } = stepPaceOf(replay);
  const fresh = queue.map((match) => ({ ...match, id: createId("dlv", nowMs) }));
  return (
    queue.length - (await enqueueDeliveries(tx, { projectId, dueAtMs: nowMs, lowPriority: true, spreadMs }, fresh)).size
  );
}

/**
 * Returns the replay with the reason why it must wait, and the time of this wait. After the wait it continues with its normal rate, and
 * does not send faster to catch up. `at`: the last pair of event and subscription that was queued.
 */
function waiting(
  replay: ReplayRecord,
  count: number,
  { hindrance, at, nowMs }: { hindrance: Hindrance; at: EventMatch | undefined; nowMs: number },
): MovedReplay {
  const { reason, waitsForId, againAt } = hindrance;
  return { replay: { ...replay, ...(at && positionAt(at)), reason, waitsForId, pacedAt: nowMs }, count, againAt };
}

function goneOn(
  replay: ReplayRecord,
  step: { found: NextMatches; allowance: Allowance; used: number; nowMs: number },
): ReplayRecord {
  const { found, allowance, used, nowMs } = step;
  const moved = { ...replay, reason: "", waitsForId: null, pacedAt: allowance.pacedAt(used) } as const;
  if (found.next !== undefined) return { ...moved, ...positionAt(found.next) };
  const last = found.matches.at(-1);
  const isCounted = replay.uncountedFromId === null;
  return {
    ...moved,
    ...(last && positionAt(last)),
    state: "done",
    endedAt: nowMs,
    total: isCounted ? replay.total : replay.queued,
    uncountedFromId: null,
  };
}

function positionAt({ eventId, subscriptionId }: EventMatch) {
  return { positionEventId: eventId, positionSubscriptionId: subscriptionId };
}

function stepOf({ replay, count }: MovedReplay): ReplayStep {
  const { id: replayId, projectId, state, reason, queued } = replay;
  return { replayId, projectId, state, reason, count, queued };
}

/**
 * Returns the pause between two steps of a replay, and the maximum number of deliveries in one step. With small steps, deliveries of new
 * events can be sent in between.
 */
function stepPaceOf({ perSecond }: Pick<ReplayRecord, "perSecond">): StepPace {
  const steps = Math.min(stepsMax, Math.ceil(perSecond / burst));
  if (steps === 1) return { pauseMs: turnMs, most: Number.POSITIVE_INFINITY };
  return { pauseMs: turnMs / steps, most: Math.ceil((2 * perSecond) / steps) };
}

/** Returns the maximum number of a replay's deliveries that may be pending for one subscription. */
function pendingMaxOf({ perSecond }: Pick<ReplayRecord, "perSecond">): number {
  return pendingSeconds * perSecond;
}

/**
 * Returns the next matches to queue. A match is an event and a subscription that receives it. If the subscription was deleted meanwhile,
 * its match is left out, and later matches do not wait for it.
 */
function planStep(
  matches: readonly EventMatch[],
  subscriptions: readonly ReplayedSubscription[],
  { pendingMax, nowMs }: { pendingMax: number; nowMs: number },
): StepPlan {
  const known = new Map(subscriptions.map((one) => [one.id, { one, room: roomOf(one, pendingMax, nowMs) }]));
  const queue: EventMatch[] = [];
  for (const match of matches) {
    const to = known.get(match.subscriptionId);
    if (to === undefined) continue;
    if (to.room <= 0) return { queue, hindrance: hindranceOf(to.one, nowMs) };
    to.room--;
    queue.push(match);
  }
  return { queue, hindrance: undefined };
}

/**
 * Returns how many more replayed deliveries one subscription can take now. A failing endpoint can take one delivery after each backoff
 * (pause after failures). This one delivery tests if the endpoint works again; often no other pending delivery can test it.
 */
function roomOf(
  { failingSince, backoffUntil, pending }: ReplayedSubscription,
  pendingMax: number,
  nowMs: number,
): number {
  if (failingSince === null) return pendingMax - pending;
  return pending === 0 && (backoffUntil ?? 0) <= nowMs ? 1 : 0;
}

function hindranceOf({ id, failingSince, backoffUntil }: ReplayedSubscription, nowMs: number): Hindrance {
  if (failingSince === null) return { reason: "pending", waitsForId: id, againAt: nowMs + turnMs };
  const againAt = Math.min(Math.max(backoffUntil ?? 0, nowMs + turnMs), nowMs + backoffWaitMs);
  return { reason: "backoff", waitsForId: id, againAt };
}
