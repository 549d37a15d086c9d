import { type Clock, createBatcher, type NodeId, type SubscriptionId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type DeliverySettlement, settleDeliveries } from "@svc/db/deliveries/settle";
import {
  type HealthLimits,
  reportSubscriptionFailures,
  reportSubscriptionRecoveries,
  type SubscriptionFailures,
  type SubscriptionHealth,
} from "@svc/db/subscriptions/health";
import type { DeliveryObserver } from "./observer.ts";

/** An attempt that ended, with its effect on the subscription's health. */
export type EndedAttempt = {
  settlement: DeliverySettlement;
  retryAfterMs: number;
  /** True if the endpoint was failing before, as far as this node knows. */
  wasFailing: boolean;
  leaseUntilMs: number;
  /** True if the endpoint is healthy and refuses only this event. */
  isUnwanted: boolean;
};

/** Dependencies of the recorder. */
export type RecorderOptions = {
  db: Executor;
  clock: Clock;
  nodeId: NodeId;
  observer: DeliveryObserver;
  limits: HealthLimits;
  /** Called with the health of every subscription that failed or recovered. */
  onHealth(health: SubscriptionHealth): void;
  onRecovered(ids: readonly SubscriptionId[]): void;
};

/** Writes attempts in batches. */
export type Recorder = {
  /** Resolves when the attempt is committed, or its lease is lost. */
  record(settled: EndedAttempt): Promise<void>;
  idle(): Promise<void>;
};

const batchMax = 500;
/** A settlement is not urgent, so under load it waits for others: this saves four fifths of the statements at 3,000 deliveries a second. */
const linger = { ms: 10, fromSize: 2 };
const retryPauseMs = 250;

/** Creates a recorder that commits attempts in batches. While the database is unavailable or fails, it retries until the leases expire. */
export function createRecorder(options: RecorderOptions): Recorder {
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
 * True if the store refuses the values: PostgreSQL's classes 22 (data exception) and 23 (constraint violation). Only such an error can come
 * from one attempt of a batch. Every other error may be temporary and is retried.
 */
function isRefusal(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth++) {
    if ("code" in cause && typeof cause.code === "string" && /^2[23]...$/.test(cause.code)) return true;
  }
  return false;
}

async function writeUntilStored(options: RecorderOptions, items: readonly EndedAttempt[]): Promise<void> {
  const settlements = items.map((item) => item.settlement);
  const lastLeaseMs = items.reduce((last, item) => Math.max(last, item.leaseUntilMs), 0);
  for (;;) {
    try {
      const lost = await settleDeliveries(options.db, options.nodeId, settlements);
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
 * Writes the last known health of each subscription: a batch in which it failed and then delivered counts as success. This is a statement
 * of its own, because subscriptions are written only when something changes. The next attempt repeats a lost report.
 */
async function writeHealth(options: RecorderOptions, items: readonly EndedAttempt[]): Promise<void> {
  const failures = new Map<SubscriptionId, SubscriptionFailures>();
  const recoveries = new Set<SubscriptionId>();
  for (const item of items) {
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
      goneCount: isGone ? (known?.goneCount ?? 0) + 1 : 0,
    });
  }
  if (failures.size === 0 && recoveries.size === 0) return;
  try {
    await reportSubscriptionRecoveries(options.db, [...recoveries]);
    options.onRecovered([...recoveries]);
    // The backoff counts from the failure, not from the time when the store records it.
    const failedAtMs = items.reduce((last, { settlement: { state, attempt }, isUnwanted }) => {
      return state === "delivered" || isUnwanted ? last : Math.max(last, attempt.startedAt + attempt.durationMs);
    }, 0);
    const health = await reportSubscriptionFailures(options.db, [...failures.values()], failedAtMs, options.limits);
    for (const one of health) options.onHealth(one);
  } catch (error) {
    options.observer.failed("health", error);
  }
}
