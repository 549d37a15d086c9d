import { type DeliveryId, type NodeId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { statement } from "../statement.ts";

/** Gives leases back unused: by primary key, a HOT update. Tasks that `owner` no longer holds are left alone. */
const releaseDeliveries = statement<{ delivery_id: string }>(
  "release_deliveries",
  `update delivery_tasks set lease_owner = null, lease_until = null
   where delivery_id = any($1::uuid[]) and lease_owner = $2::uuid`,
);

/** Gives the leases of `ids` back, so that any node may claim them at once. */
export async function release(db: Executor, owner: NodeId, ids: readonly DeliveryId[]): Promise<void> {
  if (ids.length > 0) await releaseDeliveries(db, [arrayLiteral(ids.map(uuidOfId)), uuidOfId(owner)]);
}
