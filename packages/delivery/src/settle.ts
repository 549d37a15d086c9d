import {
  type Clock,
  createBatcher,
  type DeliveryId,
  LeastRecentlyUsed,
  type NodeId,
  type SubscriptionId,
} from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import { type DeliverySettlement, settleDeliveries } from "@svc/db/deliveries/settle";
import type { OperationalFilters } from "@svc/db/events/operational";
import {
  type HealthLimits,
  reportSubscriptionFailures,
  reportSubscriptionOverflows,
  reportSubscriptionRecoveries,
  type SubscriptionFailures,
  type SubscriptionHealth,
} from "@svc/db/subscriptions/health";
import type { DeliveryObserver } from "./observer.ts";
import { publishDeadDeliveries, publishFailures, publishRecoveries } from "./publish-events.ts";

/** An attempt that ended, with the values that decide if its endpoint counts as failing. */
export type EndedAttempt = {
  settlement: DeliverySettlement;
  retryAfterMs: number;
  /** True if the endpoint was already failing, as far as this node knows. */
  wasFailing: boolean;
  leaseUntilMs: number;
  /**
   * True if the endpoint of an agent's subscription refuses only this event. The endpoint then counts as healthy. False if the endpoint
   * accepted the event or failed.
   */
  isUnwanted: boolean;
  /**
   * True if svc sent nothing because the subscription itself has an error (for example in its template). The attempt then does not count
   * for the health of the endpoint. Default false.
   */
  isOwnFault?: boolean;
  /**
   * How long the endpoint must fail without a success until svc deactivates the subscription, in milliseconds. Null: svc never deactivates
   * it. Undefined: the limit of the deployment applies.
   */
  giveUpAfterMs?: number | null | undefined;
};

/** Dependencies of the recorder, which stores the results of delivery attempts. */
export type RecorderOptions = {
  db: Executor;
  clock: Clock;
  nodeId: NodeId;
  observer: DeliveryObserver;
  /** Applies the filters of subscriptions to the operational events about endpoints and deliveries. */
  filters: OperationalFilters;
  limits: HealthLimits;
  /** Maximum number of pending deliveries of a subscription whose endpoint fails. With more, the subscription is deactivated. */
  pendingMax: number;
  /** Called with the new health of each subscription whose endpoint failed. */
  onHealth(health: SubscriptionHealth): void;
  onRecovered(ids: readonly SubscriptionId[]): void;
};

/** Stores the results of attempts in batches. */
export type Recorder = {
  /** Records an attempt. Resolves when the attempt is committed or its lease is lost (the node may no longer store a result). */
  record(settled: EndedAttempt): Promise<void>;
  idle(): Promise<void>;
};

const batchMax = 500;
/**
 * How long finished attempts wait for more attempts, so that one statement stores them together. `ms`: time to wait, in milliseconds.
 * `fromSize`: number of finished attempts from which on they wait. At 3,000 deliveries a second, this saves four fifths of the statements.
 */
const linger = { ms: 10, fromSize: 2 };
const retryPauseMs = 250;
/** Time between two counts of the pending deliveries of a failing subscription, in milliseconds. */
const countedEveryMs = 300_000;
/**
 * After a batch of attempts, the recorder counts the pending deliveries of at most this number of failing subscriptions. The limit keeps
 * the count short, because the next batch is recorded only after it.
 */
const countedAtOnceMax = 10;
const countedMax = 10_000;

/**
 * Options of a recorder, which stores the results of attempts. `counted`: when each subscription's pending deliveries were last counted.
 */
type RecorderState = RecorderOptions & { readonly counted: LeastRecentlyUsed<SubscriptionId, number> };

/**
 * Returns a recorder that commits attempts in batches. If a commit fails, it retries until the leases of the deliveries (the node's time to
 * send them) expire. It does not retry if the database refuses the values.
 */
export function createRecorder(given: RecorderOptions): Recorder {
  const options = { ...given, counted: new LeastRecentlyUsed<SubscriptionId, number>(countedMax) };
  const batcher = createBatcher<EndedAttempt, void>({
    sizeMax: batchMax,
    concurrency: 1,
    linger,
    splits: isRefusal,
    run: async (items) => {
      await writeUntilStored(options, items);
      await writeHealth(options, items);
      return items.map(() => undefined);
    },
  });
  return {
    idle: batcher.idle,
    record: async (settled) => {
      try {
        await batcher.add(settled);
      } catch (error) {
        options.observer.failed("settle", error);
      }
    },
  };
}

/**
 * True if PostgreSQL reports an error of class 22 or 23: it refuses a value, so that a retry would fail again. False for any other error,
 * which may be temporary.
 */
function isRefusal(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    if ("code" in cause && typeof cause.code === "string" && /^2[23]...$/.test(cause.code)) return true;
  }
  return false;
}

async function writeUntilStored(options: RecorderOptions, items: readonly EndedAttempt[]): Promise<void> {
  const lastLeaseMs = items.reduce((last, item) => Math.max(last, item.leaseUntilMs), 0);
  for (;;) {
    try {
      const lost = await settle(options, items);
      if (lost.length > 0) options.observer.leasesLost(lost.length);
      return;
    } catch (error) {
      if (isRefusal(error)) throw error;
      options.observer.failed("settle", error);
      if (options.clock.now() >= lastLeaseMs) return options.observer.leasesLost(items.length);
      await options.clock.wait(retryPauseMs);
    }
  }
}

/**
 * Stores the results of a batch of delivery attempts. In the same transaction, stores operational events about deliveries whose attempts
 * are used up. Returns the ids of deliveries whose lease (the node's time to send them) is lost. Their results are not stored.
 */
async function settle(
  { db, clock, nodeId, filters }: RecorderOptions,
  items: readonly EndedAttempt[],
): Promise<DeliveryId[]> {
  const settlements = items.map(({ settlement }) => settlement);
  const dead = items.flatMap(({ settlement, isUnwanted }) =>
    settlement.state === "dead_letter" && !isUnwanted ? [settlement] : [],
  );
  if (dead.length === 0) return settleDeliveries(db, nodeId, settlements);
  return withTransaction(db, async (tx) => {
    const lost = await settleDeliveries(tx, nodeId, settlements);
    const isLost = new Set(lost);
    const ended = dead.filter(({ id }) => !isLost.has(id));
    await publishDeadDeliveries(tx, ended, { filters, nowMs: clock.now() });
    return lost;
  });
}

/**
 * Stores for each subscription of a batch of attempts if its endpoint failed or recovered. The last attempt in the batch decides. If this
 * write is lost, the next attempt reports the health again.
 */
async function writeHealth(options: RecorderState, items: readonly EndedAttempt[]): Promise<void> {
  const failures = new Map<SubscriptionId, SubscriptionFailures>();
  const recoveries = new Set<SubscriptionId>();
  for (const item of items) {
    if (item.isOwnFault === true) continue;
    const { subscriptionId, state } = item.settlement;
    const { startedAt, statusCode } = item.settlement.attempt;
    if (state === "delivered" || item.isUnwanted) {
      const hadFailed = failures.delete(subscriptionId);
      if (hadFailed || item.wasFailing) recoveries.add(subscriptionId);
      continue;
    }
    recoveries.delete(subscriptionId);
    const known = failures.get(subscriptionId);
    const isGone = statusCode === 410 && (known === undefined || known.goneCount > 0);
    failures.set(subscriptionId, {
      subscriptionId,
      startedAtMs: Math.max(known?.startedAtMs ?? 0, startedAt),
      retryAfterMs: Math.max(known?.retryAfterMs ?? 0, item.retryAfterMs),
      giveUpAfterMs: item.giveUpAfterMs,
      goneCount: isGone ? (known?.goneCount ?? 0) + 1 : 0,
    });
  }
  if (failures.size === 0 && recoveries.size === 0) return;
  try {
    if (recoveries.size > 0) await writeRecoveries(options, [...recoveries]);
    // The backoff begins at the failure, not at the time when the database records the failure.
    const failedAtMs = items.reduce((last, { settlement: { state, attempt }, isUnwanted, isOwnFault }) => {
      return state === "delivered" || isUnwanted || isOwnFault === true
        ? last
        : Math.max(last, attempt.startedAt + attempt.durationMs);
    }, 0);
    if (failures.size > 0) await writeFailures(options, [...failures.values()], failedAtMs);
  } catch (error) {
    options.observer.failed("health", error);
  }
}

async function writeRecoveries(
  { db, clock, filters, onRecovered }: RecorderOptions,
  ids: readonly SubscriptionId[],
): Promise<void> {
  await withTransaction(db, async (tx) => {
    const ended = await reportSubscriptionRecoveries(tx, ids);
    await publishRecoveries(tx, ended, { filters, nowMs: clock.now() });
  });
  onRecovered(ids);
}

async function writeFailures(
  options: RecorderState,
  reports: readonly SubscriptionFailures[],
  failedAtMs: number,
): Promise<void> {
  const { db, clock, filters, limits, onHealth } = options;
  const health = await withTransaction(db, async (tx) => {
    const stored = await reportSubscriptionFailures(tx, reports, failedAtMs, limits);
    await publishFailures(tx, stored, { filters, nowMs: clock.now() });
    return stored;
  });
  for (const one of health) onHealth(one);
  for (const one of await writeOverflows(options, health)) onHealth(one);
}

/**
 * Deactivates failing subscriptions that have too many pending deliveries, and returns them. The pending deliveries of one subscription are
 * counted at most every 5 minutes.
 */
async function writeOverflows(
  { db, clock, filters, pendingMax, counted }: RecorderState,
  health: readonly SubscriptionHealth[],
): Promise<SubscriptionHealth[]> {
  const nowMs = clock.now();
  const due = health.filter(({ active, subscriptionId: id }) => {
    return active && nowMs - (counted.get(id) ?? Number.NEGATIVE_INFINITY) >= countedEveryMs;
  });
  if (due.length === 0) return [];
  const ids = due.map(({ subscriptionId }) => subscriptionId).slice(0, countedAtOnceMax);
  for (const id of ids) counted.set(id, nowMs);
  return await withTransaction(db, async (tx) => {
    const full = await reportSubscriptionOverflows(tx, ids, pendingMax);
    const ended = due
      .filter(({ subscriptionId }) => full.has(subscriptionId))
      .map((one) => ({ ...one, active: false, inactiveReason: "overflow" as const, outage: ["disabled" as const] }));
    await publishFailures(tx, ended, { filters, nowMs });
    return ended;
  });
}
