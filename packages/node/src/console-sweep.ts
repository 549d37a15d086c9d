import { batches, type Sweep } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { sweepConsoleLinks } from "@svc/db/console/links";
import { sweepConsoleSessions } from "@svc/db/console/sessions";

/** How long a session of the console may lie unused before it is over, milliseconds. */
export const consoleSessionIdleMs: number = 12 * 3_600_000;

const everyMs = 600_000;
const batchMax = 500;
/** So long a link whose time is over is known still, and says so to whoever opens it. */
const deadLinkMs = 30 * 86_400_000;

/** Removes the sessions and links of the console whose time is over. */
export function consoleSweep({ db }: { db: Database }): Sweep {
  return {
    what: "console sessions",
    everyMs,
    async *round(nowMs) {
      yield* batches(batchMax, () => sweepConsoleSessions(db, nowMs - consoleSessionIdleMs, batchMax));
      yield* batches(batchMax, () => sweepConsoleLinks(db, nowMs - deadLinkMs, batchMax));
    },
  };
}
