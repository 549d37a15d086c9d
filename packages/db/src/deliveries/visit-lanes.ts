import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";
import { behindEpoch, epochOf } from "./epoch.ts";

const epoch = epochOf("$3::bool");

/**
 * The subscriptions that have tasks which do not wait, from after $1, at most $2 of them, with what hinders each: a loose scan of
 * delivery_tasks_lane, one probe a lane. Of those behind, where $3. One more row, without a subscription, says that there are any behind.
 */
const visit = statement<{ subscription_id: string | null; ended: boolean }>(
  "visit_lanes",
  `with recursive visited as (
    (select t.subscription_id, 1 as hop from delivery_tasks t
     where t.epoch = ${epoch} and t.subscription_id > $1::uuid order by t.subscription_id limit 1)
    union all
    select (select t.subscription_id from delivery_tasks t
            where t.epoch = ${epoch} and t.subscription_id > v.subscription_id order by t.subscription_id limit 1), v.hop + 1
    from visited v where v.subscription_id is not null and v.hop < $2::int4
  )
  select v.subscription_id, s.id is null or not s.active as ended
  from visited v left join subscriptions s on s.id = v.subscription_id
  where v.subscription_id is not null
  union all
  select null, true where exists (select from delivery_tasks t where t.epoch = ${behindEpoch} limit 1)
  order by subscription_id`,
);

/** A subscription that has tasks. `ended`: it is inactive or gone. */
export type VisitedLane = { readonly subscriptionId: string; readonly ended: boolean };

/** Visits up to `most` lanes from after a subscription's UUID. `hasBehind`: paced replays have something queued. */
export async function visitLanes(
  db: Executor,
  { after, most, behind }: { after: string; most: number; behind: boolean },
): Promise<{ lanes: VisitedLane[]; hasBehind: boolean }> {
  const rows = await visit(db, [after, most, behind]);
  const lanes = rows.flatMap(({ subscription_id: subscriptionId, ended }) =>
    subscriptionId === null ? [] : [{ subscriptionId, ended }],
  );
  return { lanes, hasBehind: lanes.length < rows.length };
}
