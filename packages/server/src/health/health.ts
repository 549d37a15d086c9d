import type { Clock } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { probeWrites } from "@svc/db/probe-writes";

/**
 * Whether the node takes traffic: `draining` once it is told to stop, `store_unavailable` while the store does not answer or
 * takes no writes.
 */
export type HealthStatus = "ready" | "draining" | "store_unavailable";

/** The state of this node. */
export type Health = {
  /** Has the store write, at most once a second however many ask here, and not again while it has not answered. Never rejects. */
  check(): Promise<HealthStatus>;
  /** True from `drain` on. */
  readonly isDraining: boolean;
  /** From now on the node is `draining`, for good. */
  drain(): void;
};

const freshMs = 1_000;
const answerMs = 2_000;
// A store that hangs is asked no more often, or the questions would take every connection; what was lost on its way is never answered.
const givenUpMs = 10_000;

/** Watches one node's store. */
export function createHealth({ db, clock }: { db: Executor; clock: Clock }): Health {
  let isDraining = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  let isAnswered = true;
  let answer: Promise<HealthStatus> = Promise.resolve("ready");
  const ask = () => {
    askedAt = clock.now();
    isAnswered = false;
    const asked = askStore(db).finally(() => {
      isAnswered = true;
    });
    answer = withinAnswerTime(asked, clock);
  };
  return {
    async check() {
      const waitMs = isAnswered ? freshMs : givenUpMs;
      if (!isDraining && clock.now() - askedAt >= waitMs) ask();
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

/** Whatever a write fails with, what comes in could not be stored. */
function askStore(db: Executor): Promise<HealthStatus> {
  return probeWrites(db).then(
    (isWritable) => (isWritable ? "ready" : "store_unavailable"),
    () => "store_unavailable",
  );
}

/** A driver that reconnects answers late: what takes over two seconds is away. */
async function withinAnswerTime(asked: Promise<HealthStatus>, clock: Clock): Promise<HealthStatus> {
  const done = new AbortController();
  const late = clock.wait(answerMs, done.signal).then(() => "store_unavailable" as const);
  const status = await Promise.race([asked, late]);
  done.abort();
  return status;
}
