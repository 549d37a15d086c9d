import type { Clock, Sealer } from "@svc/core";
import { type ActivityCount, addActivityHours, addActivityMinutes } from "@svc/db/activity/write";
import { type Database, withTransaction } from "@svc/db/connect";
import type { Counters } from "./counters.ts";
import type { FailureCounters } from "./failures.ts";

/**
 * Dependencies of the loop that stores a node's activity counts (such as numbers of events and calls) in the database. `onError`: called if
 * one round of the loop fails. The counts of that round are stored with the next round.
 */
export type FlushOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly failures: FailureCounters;
  readonly sealer: Sealer;
  onError(error: unknown): void;
};

/** The loop that stores a node's activity counts (such as numbers of calls and deliveries) in the database. */
export type Flush = {
  /** Stores the counts (of tool calls, webhook posts and deliveries) that are not stored yet, and ends the loop. Never rejects. */
  stop(): Promise<void>;
};

const everyMs = 10_000;
const batchMax = 1_000;
/** Maximum number of counts that are kept while the database is unavailable. If there are more, the oldest are dropped. */
const keptMax = 200_000;

/**
 * Starts the loop that writes the activity counts of this node (such as calls and events per minute) to the database every 10 seconds. If
 * nothing was counted, it sends no statement.
 */
export function startFlush({ db, clock, counters, failures, sealer, onError }: FlushOptions): Flush {
  const stopped = new AbortController();
  const flush = async () => {
    const counts = counters.take();
    let added = 0;
    try {
      for (; added < counts.length; added += batchMax) await addCounts(db, counts.slice(added, added + batchMax));
    } catch (error) {
      counters.giveBack(counts.slice(added).slice(-keptMax));
      onError(error);
    }
    await failures.flush(db, sealer).catch(onError);
  };
  const run = async () => {
    while (!stopped.signal.aborted) {
      await clock.wait(everyMs, stopped.signal);
      await flush();
    }
  };
  const running = run();
  return {
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

/**
 * Stores activity counts in the table of minutes and in the table of hours. One transaction writes both, so that a failed batch is in
 * neither table.
 */
async function addCounts(db: Database, counts: readonly ActivityCount[]): Promise<void> {
  await withTransaction(db, async (tx) => {
    await addActivityMinutes(tx, counts);
    await addActivityHours(tx, hoursOf(counts));
  });
}

const hourMs = 3_600_000;

function hoursOf(counts: readonly ActivityCount[]): ActivityCount[] {
  const hours = new Map<string, ActivityCount>();
  for (const one of counts) {
    const at = one.at - (one.at % hourMs);
    const key = `${one.projectId} ${one.series} ${one.subject} ${at} ${one.outcome}`;
    hours.set(key, { ...one, at, count: one.count + (hours.get(key)?.count ?? 0) });
  }
  return [...hours.values()];
}
