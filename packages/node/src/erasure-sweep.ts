import type { Sweep } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { hasDueErasure } from "@svc/db/erasures/repo";
import { type ErasureTimes, stepErasure } from "@svc/db/erasures/step";

const everyMs = 10_000;

/** How an erasure is paced where nothing else is said. Calls end within minutes of their beginning, and are recorded then. */
const erasureTimes: ErasureTimes = { graceMs: 120_000, jobsMs: 600_000, pollMs: 10_000 };

/** Moves erasures of entities and projects on, batch by batch. Not what is past its time goes here, but what somebody wants gone. */
export function erasureSweep({ db, times }: { db: Database; times?: Partial<ErasureTimes> | undefined }): Sweep {
  const all = { ...erasureTimes, ...times };
  return {
    what: "erasures",
    everyMs: Math.min(everyMs, all.pollMs),
    async *round(nowMs) {
      if (!(await hasDueErasure(db, nowMs))) return;
      while ((await stepErasure(db, nowMs, all)) !== undefined) yield true;
    },
  };
}
