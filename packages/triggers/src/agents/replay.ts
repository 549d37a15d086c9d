import { createId, idOfUuid, type ProjectPrincipal, quotaOf } from "@svc/core";
import { enqueueDeliveries } from "@svc/db/deliveries/enqueue";
import { usageOfProject } from "@svc/db/projects/usage";
import type { Subscription } from "@svc/db/subscriptions/repo";
import type { CursorScope, EventPosition } from "../polls/position.ts";
import type { AgentEventsContext } from "./context.ts";

/** Past events that a new subscription of an agent must receive, because the subscription starts before the present. */
type PastRange = {
  readonly principal: ProjectPrincipal;
  readonly scope: CursorScope;
  readonly subscription: Pick<Subscription, "id">;
  readonly position: EventPosition;
};

/** Maximum number of past events that a subscription is sent. The newest ones are sent. */
const replayedMax = 1_000;

/**
 * Queues deliveries of the events after a position, at most `replayedMax`. Returns true if the oldest of these events were left out, false
 * if all were queued.
 */
export async function replayFrom(events: AgentEventsContext, replayed: PastRange): Promise<boolean> {
  const { db, clock, dispatcher, polls } = events;
  const { principal, subscription, scope, position } = replayed;
  const max = Math.min(replayedMax, await roomOf(events, principal));
  const { uuids, isCut } = await polls.newest(scope, position, max);
  if (uuids.length === 0) return isCut;
  const nowMs = clock.now();
  const fresh = uuids.map((uuid) => {
    return { id: createId("dlv", nowMs), eventId: idOfUuid("evt", uuid), subscriptionId: subscription.id };
  });
  await enqueueDeliveries(db, { projectId: principal.projectId, dueAtMs: nowMs, lowPriority: false }, fresh);
  dispatcher.wake();
  return isCut;
}

/** Returns how many more pending deliveries the quota of the project allows. */
async function roomOf({ db }: AgentEventsContext, { projectId, quotas }: ProjectPrincipal): Promise<number> {
  const most = quotaOf(quotas, "pendingDeliveries");
  if (most === Number.POSITIVE_INFINITY) return replayedMax;
  return Math.max(0, most - (await usageOfProject(db, projectId).countDeliveries(most)));
}
