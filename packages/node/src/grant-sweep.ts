import { batches, type Sweep } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { sweepGrantCodes, sweepUnusedGrantClients, sweepUsedGrantClients } from "@svc/db/grants/codes";
import { sweepGrantTokens } from "@svc/db/grants/tokens";

const dayMs = 86_400_000;
const everyMs = 600_000;
const batchMax = 500;
/** Milliseconds that an expired code is kept, so that presenting it again ends the tokens it was exchanged for. */
const deadCodeMs = dayMs;
/** How long a client that registered itself is kept: without a grant, and after it last used one. */
const clientKept = { unusedMs: dayMs, usedMs: 90 * dayMs };

/** Returns the sweep that removes expired codes and tokens of grants, and unused clients. */
export function grantSweep({ db }: { db: Database }): Sweep {
  return {
    what: "grants",
    everyMs,
    async *round(nowMs) {
      yield* batches(batchMax, () => sweepGrantTokens(db, nowMs, batchMax));
      yield* batches(batchMax, () => sweepGrantCodes(db, nowMs - deadCodeMs, batchMax));
      yield* batches(batchMax, () => sweepUsedGrantClients(db, nowMs - clientKept.usedMs, batchMax));
      yield* batches(batchMax, () => sweepUnusedGrantClients(db, nowMs - clientKept.unusedMs, batchMax));
    },
  };
}
