import { batches, type Sweep } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { sweepConsoleLinks } from "@svc/db/console/links";
import { sweepPortalKeys } from "@svc/db/console/portal";
import { sweepConsoleSessions } from "@svc/db/console/sessions";
import { sweepDeviceCodes } from "@svc/db/people/device-codes";
import { sweepInvitations } from "@svc/db/people/invitations";
import { sweepUsedAssertions } from "@svc/db/people/people";

/** Milliseconds that a session of the console may be idle before it expires. */
export const consoleSessionIdleMs: number = 12 * 3_600_000;

const everyMs = 600_000;
const batchMax = 500;
/**
 * Time in milliseconds for which svc keeps an expired link to the console. During this time, the link's page can still say that the link
 * has expired.
 */
const deadLinkMs = 30 * 86_400_000;

/**
 * Returns the sweep (regular task) that removes expired sessions and links of the console, expired keys of portal links, and the remaining
 * data of expired invitations and sign-ins.
 */
export function consoleSweep({ db }: { db: Database }): Sweep {
  return {
    what: "console sessions",
    everyMs,
    async *round(nowMs) {
      yield* batches(batchMax, () => sweepConsoleSessions(db, nowMs - consoleSessionIdleMs, batchMax));
      yield* batches(batchMax, () => sweepPortalKeys(db, nowMs - deadLinkMs, batchMax));
      yield* batches(batchMax, () => sweepConsoleLinks(db, nowMs - deadLinkMs, batchMax));
      yield* batches(batchMax, () => sweepInvitations(db, nowMs - deadLinkMs, batchMax));
      yield* batches(batchMax, () => sweepDeviceCodes(db, nowMs, batchMax));
      yield* batches(batchMax, () => sweepUsedAssertions(db, nowMs, batchMax));
    },
  };
}
