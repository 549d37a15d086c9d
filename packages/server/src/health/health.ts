import type { Clock } from "@svc/core";
import { type Executor, isWritable } from "@svc/db";

/**
 * Whether the node takes traffic: `draining` once it is told to stop, `store_unavailable` while the store does not answer or
 * takes no writes.
 */
export type HealthStatus = "ready" | "draining" | "store_unavailable";

/** The state of this node. */
export type Health = {
  /** Asks the store, at most once a second however many ask here. Never rejects. */
  check(): Promise<HealthStatus>;
  /** True from `drain` on. */
  readonly isDraining: boolean;
  /** From now on the node is `draining`, for good. */
  drain(): void;
};

const freshMs = 1_000;
const answerMs = 2_000;

/** Watches one node's store. */
export function createHealth({ db, clock }: { db: Executor; clock: Clock }): Health {
  let isDraining = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer: Promise<HealthStatus> = Promise.resolve("ready");
  return {
    async check() {
      if (!isDraining && clock.now() - askedAt >= freshMs) {
        askedAt = clock.now();
        answer = askStore(db, clock);
      }
      return isDraining ? "draining" : answer;
    },
    get isDraining() {
      return isDraining;
    },
    drain() {
      isDraining = true;
    },
  };
}

/** A driver that reconnects answers late: what takes over two seconds is away. */
async function askStore(db: Executor, clock: Clock): Promise<HealthStatus> {
  const done = new AbortController();
  const asked = isWritable(db).then(
    (writable) => (writable ? ("ready" as const) : ("store_unavailable" as const)),
    () => "store_unavailable" as const,
  );
  const late = clock.wait(answerMs, done.signal).then(() => "store_unavailable" as const);
  const status = await Promise.race([asked, late]);
  done.abort();
  return status;
}
