import { statement } from "../sql/statement.ts";
import { currentEpoch } from "./epoch.ts";

/**
 * The subscriptions that have tasks which do not wait, from after $1, at most $2 of them, with what hinders each: a loose scan of
 * delivery_tasks_lane, one probe a lane.
 */
export const visitLanes = statement<{ subscription_id: string; ended: boolean }>(
  "visit_lanes",
  `with recursive visited as (
    (select t.subscription_id, 1 as hop from delivery_tasks t
     where t.epoch = ${currentEpoch} and t.subscription_id > $1::uuid order by t.subscription_id limit 1)
    union all
    select (select t.subscription_id from delivery_tasks t
            where t.epoch = ${currentEpoch} and t.subscription_id > v.subscription_id order by t.subscription_id limit 1), v.hop + 1
    from visited v where v.subscription_id is not null and v.hop < $2::int4
  )
  select v.subscription_id, s.id is null or not s.active as ended
  from visited v left join subscriptions s on s.id = v.subscription_id
  where v.subscription_id is not null
  order by v.subscription_id`,
);
