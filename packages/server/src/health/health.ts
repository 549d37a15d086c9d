import type { Clock } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { probeWrites } from "@svc/db/probe-writes";

/** Readiness of a node. `draining`: it was asked to stop. `store_unavailable`: the database does not answer or accepts no writes. */
export type HealthStatus = "ready" | "draining" | "store_unavailable";

/** The state of this node. */
export type Health = {
  /** Tests a write to the database, at most once a second for all callers, and not while an earlier test is unanswered. Never rejects. */
  check(): Promise<HealthStatus>;
  /** True after `drain`. */
  readonly isDraining: boolean;
  /** Sets the node to `draining`, permanently. */
  drain(): void;
};

const freshMs = 1_000;
const answerMs = 2_000;
// Milliseconds after which a test is abandoned. A database that hangs is not tested more often, because the tests would occupy every
// connection. A lost answer never arrives.
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

/** Whatever error a write fails with, incoming data could not be stored. */
function askStore(db: Executor): Promise<HealthStatus> {
  return probeWrites(db).then(
    (isWritable) => (isWritable ? "ready" : "store_unavailable"),
    () => "store_unavailable",
  );
}

/** A driver that reconnects answers late, so an answer after more than two seconds counts as unavailable. */
async function withinAnswerTime(asked: Promise<HealthStatus>, clock: Clock): Promise<HealthStatus> {
  const done = new AbortController();
  const late = clock.wait(answerMs, done.signal).then(() => "store_unavailable" as const);
  const status = await Promise.race([asked, late]);
  done.abort();
  return status;
}
