import { batches, type Sweep } from "@svc/core";
import { sweepCallPaces } from "@svc/db/call-limits/repo";
import type { Executor } from "@svc/db/connect";

const batchMax = 500;

/** Every minute, what the store has of limits under whose keys nobody has called for so long that it means nothing. */
export function callPaceSweep({ db }: { readonly db: Executor }): Sweep {
  return {
    what: "call paces",
    everyMs: 60_000,
    round: (nowMs) => batches(batchMax, () => sweepCallPaces(db, nowMs, batchMax)),
  };
}
