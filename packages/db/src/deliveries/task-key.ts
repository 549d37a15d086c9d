import type { DeliveryId, SubscriptionId } from "@svc/core";
import { bool, idOf, timestamptz } from "../sql/codec.ts";
import { epochOf } from "./epoch.ts";

/** Names a task, by the key of its row, and the lease of it: a node that claims a task again holds another lease. */
export type DeliveryTaskKey = {
  id: DeliveryId;
  subscriptionId: SubscriptionId;
  queuedForMs: number;
  leaseUntilMs: number;
  /** Whether it stands behind what is live: a paced replay queued it, and it was not tried yet. */
  behind: boolean;
};

/** A task's key among a statement's parameters. */
export const taskKeyFields = {
  id: idOf("dlv"),
  subscriptionId: idOf("sub"),
  queuedForMs: timestamptz,
  leaseUntilMs: timestamptz,
  behind: bool,
};

/**
 * Whether a row `t` of delivery_tasks is the one that a row `i` of `taskKeyFields` names, and still under that lease. Where there are
 * many, the epoch is a column of theirs: beside a constant, the planner would rather read the whole of it.
 */
export function isHeldBy(owner: string, epoch = epochOf("i.behind")): string {
  return `t.epoch = ${epoch} and t.subscription_id = i.subscription_id and t.due_at = i.queued_for_ms and t.delivery_id = i.id
      and t.lease_owner = ${owner} and t.lease_until = i.lease_until_ms`;
}
