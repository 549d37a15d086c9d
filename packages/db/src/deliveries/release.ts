import type { NodeId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { idOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { rows, values } from "../sql/select-list.ts";
import { type DeliveryTaskKey, isHeldBy, taskKeyFields } from "./enqueue.ts";

/** Gives leases back unused: by primary key, a HOT update. Tasks that `owner` no longer holds by that lease are left alone. */
const release = compose(
  "release_deliveries",
  { tasks: rows(taskKeyFields), by: values({ owner: idOf("node") }) },
  ({ tasks, by }) => query`
    update delivery_tasks t set lease_owner = null, lease_until = null from ${tasks.from("i")} where ${isHeldBy(by.owner)}`,
);

/** Gives the leases of `tasks` back, so that any node may claim them at once. */
export async function releaseDeliveries(db: Executor, owner: NodeId, tasks: readonly DeliveryTaskKey[]): Promise<void> {
  if (tasks.length > 0) await release(db, { tasks, by: { owner } });
}
