import { batches, type Sweep } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { sweepToolVectors } from "@svc/db/tool-vectors/repo";

const dayMs = 86_400_000;
/** How long a vector is kept that no node reads: of a tool whose text was changed, or of a model that is no longer used. */
const unusedMs = 30 * dayMs;
const batchMax = 500;

/** Removes the vectors of tools that nobody uses any more. */
export function vectorSweep({ db }: { db: Database }): Sweep {
  return {
    what: "vectors of tools",
    everyMs: 3_600_000,
    round: (nowMs) => batches(batchMax, () => sweepToolVectors(db, nowMs - unusedMs, batchMax)),
  };
}
