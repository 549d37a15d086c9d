import { type NodeId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { statement } from "../statement.ts";
import type { TaskKey } from "./settle.ts";

/** Gives leases back unused: by primary key, a HOT update. Tasks that `owner` no longer holds by that lease are left alone. */
const releaseDeliveries = statement<{ delivery_id: string }>(
  "release_deliveries",
  `update delivery_tasks t set lease_owner = null, lease_until = null
   from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::timestamptz[]) as i(subscription_id, queued_for, id, lease_until)
   where t.subscription_id = i.subscription_id and t.due_at = i.queued_for and t.delivery_id = i.id
     and t.lease_owner = $5::uuid and t.lease_until = i.lease_until`,
);

/** Gives the leases of `tasks` back, so that any node may claim them at once. */
export async function release(db: Executor, owner: NodeId, tasks: readonly TaskKey[]): Promise<void> {
  if (tasks.length === 0) return;
  await releaseDeliveries(db, [
    arrayLiteral(tasks.map((task) => uuidOfId(task.subscriptionId))),
    arrayLiteral(tasks.map((task) => new Date(task.queuedForMs).toISOString())),
    arrayLiteral(tasks.map((task) => uuidOfId(task.id))),
    arrayLiteral(tasks.map((task) => new Date(task.leaseUntilMs).toISOString())),
    uuidOfId(owner),
  ]);
}
