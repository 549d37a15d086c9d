import { createId, type EventId, type ProjectPrincipal, quotaOf, uuidOfId } from "@svc/core";
import { enqueueDeliveries } from "@svc/db/deliveries/enqueue";
import { eventsForProject } from "@svc/db/events/repo";
import { usageOfProject } from "@svc/db/projects/usage";
import type { Subscription } from "@svc/db/subscriptions/repo";
import type { AgentEventsContext } from "./context.ts";
import { type CursorScope, type EventPosition, timeOfUuid } from "./position.ts";

/** What is queued for a subscription that begins in the past. */
type Replayed = {
  readonly principal: ProjectPrincipal;
  readonly scope: CursorScope;
  readonly subscription: Pick<Subscription, "id">;
  readonly position: EventPosition;
};

/** Events that a subscription is sent of the past, the newest that there are. */
const replayedMax = 1_000;
const pageSize = 100;
/** Pages that are looked for: one by entity may hold few. */
const pagesMax = 20;

/** Queues deliveries of all that came after a position; true where the oldest of it was left out. */
export async function replayFrom(events: AgentEventsContext, replayed: Replayed): Promise<boolean> {
  const { db, clock, dispatcher } = events;
  const { principal, subscription } = replayed;
  const max = Math.min(replayedMax, await roomOf(events, principal));
  const { ids, isCut } = await findNewest(events, replayed, max);
  if (ids.length === 0) return isCut;
  const nowMs = clock.now();
  const fresh = ids.reverse().map((eventId) => {
    return { id: createId("dlv", nowMs), eventId, subscriptionId: subscription.id };
  });
  await enqueueDeliveries(db, { projectId: principal.projectId, dueAtMs: nowMs, behind: false }, fresh);
  dispatcher.wake();
  return isCut;
}

async function findNewest(
  { db }: AgentEventsContext,
  { scope, position }: Replayed,
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

/** Deliveries that the project may have pending beside those it has. */
async function roomOf({ db }: AgentEventsContext, { projectId, quotas }: ProjectPrincipal): Promise<number> {
  const most = quotaOf(quotas, "pendingDeliveries");
  if (most === Number.POSITIVE_INFINITY) return replayedMax;
  return Math.max(0, most - (await usageOfProject(db, projectId).countDeliveries(most)));
}
