import { batches, type Sweep } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { sweepGrantCodes, sweepUnusedGrantClients, sweepUsedGrantClients } from "@svc/db/grants/codes";
import { sweepGrantTokens } from "@svc/db/grants/tokens";

const dayMs = 86_400_000;
const everyMs = 600_000;
const batchMax = 500;
/** So long a code is known after its time, so that whoever shows it again ends what it was changed into. */
const deadCodeMs = dayMs;
/** How long a client that registered itself is known: without a grant, and after it last used one. */
const clientKept = { unusedMs: dayMs, usedMs: 90 * dayMs };

/** Removes the codes and tokens of grants whose time is over, and clients that nobody uses. */
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
