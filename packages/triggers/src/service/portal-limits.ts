import { type Clock, createMinuteCount, type MinuteCount, type ProjectPrincipal, type SubscriptionId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { queueWithin } from "@svc/db/subscriptions/read-progress";
import { triggerFaults } from "../errors.ts";

// Limits of the work that customers cause in the portal. They apply to one subscription or entity (customer or user), so that a customer
// reaches its own limit before it uses up what belongs to the project.

/** Number of pending deliveries of a subscription, from any source, at which its customer may queue no further delivery. */
const pendingMax = 1_000;
/**
 * Maximum number of database statements that read past events for the portal of one entity (customer or user) within a minute, at one node.
 * Each statement reads up to 50,000 events.
 */
const scansMax = 60;

/**
 * Creates the counter that limits how often the portal of an entity may read past events in a minute. `requireScan` and `takeScan` use it.
 */
export function createScanCount(clock: Clock): MinuteCount {
  return createMinuteCount({ clock, most: scansMax });
}

/**
 * Counts one read of past events for the caller's portal. Returns false if the portal has reached its limit for this minute. Returns true
 * for a caller outside the portal.
 */
export function takeScan(caller: ProjectPrincipal, countScan: MinuteCount): boolean {
  return waitForScan(caller, countScan) === undefined;
}

/**
 * Counts one database statement for the caller's portal. Throws PORTAL_SCANS_TOO_MANY if the portal has used up its statements of this
 * minute.
 */
export function requireScan(caller: ProjectPrincipal, countScan: MinuteCount): void {
  const retryAfterMs = waitForScan(caller, countScan);
  if (retryAfterMs !== undefined) throw triggerFaults.PORTAL_SCANS_TOO_MANY(scansMax, retryAfterMs);
}

function waitForScan({ projectId, portal }: ProjectPrincipal, countScan: MinuteCount): number | undefined {
  return portal === undefined ? undefined : countScan(`${projectId} ${portal.entityId}`);
}

/**
 * Runs `queue`, which queues a delivery to a subscription, and returns its result. For a caller in the portal, throws
 * PORTAL_DELIVERIES_TOO_MANY instead if the subscription has 1,000 pending deliveries. Concurrent calls cannot exceed this number together.
 */
export async function queueForCaller<Result>(
  db: Executor,
  { portal }: ProjectPrincipal,
  subscriptionId: SubscriptionId,
  queue: (db: Executor) => Promise<Result>,
): Promise<Result> {
  if (portal === undefined) return queue(db);
  const queued = await queueWithin(db, subscriptionId, pendingMax, async (tx) => ({ result: await queue(tx) }));
  if (queued === undefined) throw triggerFaults.PORTAL_DELIVERIES_TOO_MANY(subscriptionId, pendingMax);
  return queued.result;
}
