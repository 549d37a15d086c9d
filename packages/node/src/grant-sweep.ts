import { batches, type Sweep } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { sweepGrantCodes, sweepUnusedGrantClients, sweepUsedGrantClients } from "@svc/db/grants/codes";
import { sweepGrantTokens } from "@svc/db/grants/tokens";

const dayMs = 86_400_000;
const everyMs = 600_000;
const batchMax = 500;
/**
 * Time in milliseconds for which an expired authorization code is kept. If the code is used again in this time, svc ends the tokens that
 * were issued for it.
 */
const deadCodeMs = dayMs;
/**
 * Milliseconds for which a client that registered itself is kept. `unusedMs`: a client without any grant (a person's permission for an
 * agent). `usedMs`: time after the last use of one of its grants.
 */
const clientKept = { unusedMs: dayMs, usedMs: 90 * dayMs };

/**
 * Returns the sweep (regular task) that removes expired codes and tokens of grants (people's permissions for agents), and OAuth clients
 * that are not used.
 */
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
