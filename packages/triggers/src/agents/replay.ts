import { createId, type EventId, type ProjectPrincipal, quotaOf, uuidOfId } from "@svc/core";
import { enqueueDeliveries } from "@svc/db/deliveries/enqueue";
import { eventsForProject } from "@svc/db/events/repo";
import { usageOfProject } from "@svc/db/projects/usage";
import type { Subscription } from "@svc/db/subscriptions/repo";
import type { AgentEventsContext } from "./context.ts";
import { type CursorScope, type EventPosition, timeOfUuid } from "./position.ts";

/** The past events to queue for a subscription that begins in the past. */
type PastRange = {
  readonly principal: ProjectPrincipal;
  readonly scope: CursorScope;
  readonly subscription: Pick<Subscription, "id">;
  readonly position: EventPosition;
};

/** Maximum number of past events that a subscription is sent. The newest ones are sent. */
const replayedMax = 1_000;
const pageSize = 100;
/**
 * Maximum number of pages of past events that are read for one subscription. There is a maximum because a page filtered by entity may
 * contain few events.
 */
const pagesMax = 20;

/**
 * Queues deliveries of the events after a position, at most `replayedMax`. Returns true if the oldest of these events were left out, false
 * if all were queued.
 */
export async function replayFrom(events: AgentEventsContext, replayed: PastRange): Promise<boolean> {
  const { db, clock, dispatcher } = events;
  const { principal, subscription } = replayed;
  const max = Math.min(replayedMax, await roomOf(events, principal));
  const { ids, isCut } = await findNewest(events, replayed, max);
  if (ids.length === 0) return isCut;
  const nowMs = clock.now();
  const fresh = ids.reverse().map((eventId) => {
    return { id: createId("dlv", nowMs), eventId, subscriptionId: subscription.id };
  });
  await enqueueDeliveries(db, { projectId: principal.projectId, dueAtMs: nowMs, lowPriority: false }, fresh);
  dispatcher.wake();
  return isCut;
}

async function findNewest(
  { db }: AgentEventsContext,
  { scope, position }: PastRange,
  max: number,
): Promise<{ ids: EventId[]; isCut: boolean }> {
  const { projectId, trigger, entityId } = scope;
  const { toolkitSlug, slug: triggerSlug } = trigger;
  const sinceMs = timeOfUuid(position.fromUuid);
  const filter = { toolkitSlug, triggerSlug, sinceMs, untilMs: undefined, entityId, payloadContains: "" };
  const seen = new Set(position.seen);
  const ids: EventId[] = [];
  let after: EventId | undefined;
  for (let pages = 0; pages < pagesMax; pages++) {
    const { rows, walkedTo } = await eventsForProject(db, projectId).walk(filter, { after, limit: pageSize });
    for (const { id } of rows) {
      const uuid = uuidOfId(id);
      if (uuid < position.fromUuid || seen.has(uuid)) continue;
      if (ids.length >= max) return { ids, isCut: true };
      ids.push(id);
    }
    after = rows.length < pageSize ? walkedTo : rows.at(-1)?.id;
    if (after === undefined) return { ids, isCut: false };
  }
  return { ids, isCut: true };
}

/** Returns how many more pending deliveries the project may have. */
async function roomOf({ db }: AgentEventsContext, { projectId, quotas }: ProjectPrincipal): Promise<number> {
  const most = quotaOf(quotas, "pendingDeliveries");
  if (most === Number.POSITIVE_INFINITY) return replayedMax;
  return Math.max(0, most - (await usageOfProject(db, projectId).countDeliveries(most)));
}
