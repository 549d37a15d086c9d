import type { Clock } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { probeWrites } from "@svc/db/probe-writes";

/**
 * State of a node. `ready`: accepts requests. `draining`: is stopping. `store_unavailable`: its database does not answer, or accepts no
 * writes.
 */
export type HealthStatus = "ready" | "draining" | "store_unavailable";

/** Health of this node. */
export type Health = {
  /**
   * Returns the state of the node, after testing a write to the database. All callers share at most one test per second, and no new test
   * starts while one is running. Never rejects.
   */
  check(): Promise<HealthStatus>;
  /** True after `drain` was called, because the server is stopping. */
  readonly isDraining: boolean;
  /** Sets the state to `draining`. The state does not change any more. */
  drain(): void;
};

const freshMs = 1_000;
const answerMs = 2_000;
// Milliseconds after which the database may be tested again although the last test is still running. The time is long, because tests of a
// hanging database would occupy every connection. It is limited, because a lost answer never arrives.
const givenUpMs = 10_000;

/** Creates the health check of a node's database. */
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

/** Returns the state of the database. Any failed write means unavailable, because svc could not store incoming data. */
function askStore(db: Executor): Promise<HealthStatus> {
  return probeWrites(db).then(
    (isWritable) => (isWritable ? "ready" : "store_unavailable"),
    () => "store_unavailable",
  );
}

/**
 * Returns the status of the health test, or `store_unavailable` if the test takes longer than two seconds. The test can be late because the
 * database client is reconnecting.
 */
async function withinAnswerTime(asked: Promise<HealthStatus>, clock: Clock): Promise<HealthStatus> {
  const done = new AbortController();
  const late = clock.wait(answerMs, done.signal).then(() => "store_unavailable" as const);
  const status = await Promise.race([asked, late]);
  done.abort();
  return status;
}
