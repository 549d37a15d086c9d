import type { Executor } from "../connect.ts";
import { behindEpoch, currentEpoch } from "../deliveries/epoch.ts";
import { statement } from "../sql/statement.ts";

/** By the head of delivery_tasks_lane. */
const adoptLeft = statement<Record<never, never>>(
  "adopt_delivery_tasks",
  `update delivery_tasks set epoch = sign(epoch)::int4 * ${currentEpoch}
   where (epoch > 0 and epoch < ${currentEpoch}) or (epoch < 0 and epoch > ${behindEpoch})`,
);

/** A loose scan of the lanes that wait, one probe each, with the subscription of each by its key; then the tasks of those that ended. */
const adoptEnded = statement<Record<never, never>>(
  "adopt_ended_deliveries",
  `with recursive visited as (
    (select t.subscription_id from delivery_tasks t where t.epoch = 0 order by t.subscription_id limit 1)
    union all
    select (select t.subscription_id from delivery_tasks t
            where t.epoch = 0 and t.subscription_id > v.subscription_id order by t.subscription_id limit 1)
    from visited v where v.subscription_id is not null
  ), ended as materialized (
    select v.subscription_id from visited v where v.subscription_id is not null
      and not exists (select from subscriptions s where s.id = v.subscription_id and s.active offset 0)
  )
  update delivery_tasks t set epoch = ${currentEpoch}
  where t.epoch = 0 and t.subscription_id = any(array(select subscription_id from ended))`,
);

/**
 * Puts tasks where looks for work find them: those that a node of an older version left in an epoch gone by, and those that wait for
 * a retry of a subscription that has ended since. Returns how many.
 */
export async function adoptDeliveryTasks(db: Executor): Promise<number> {
  return (await adoptLeft(db, [])).count + (await adoptEnded(db, [])).count;
}
