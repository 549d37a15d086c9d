import { isoTime } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";
import { behindEpoch, epochOf } from "./epoch.ts";

const epoch = epochOf("$3::bool");

/**
 * The subscriptions that have tasks which do not wait, from after $1, at most $2 of them, with what hinders each: a loose scan of
 * delivery_tasks_lane, one probe a lane. Of those behind, where $3. Rows without a subscription say more: that there are any behind, and
 * that some wait no longer, due at $4: delivery_tasks_waiting has the first of them.
 */
const visit = statement<{ subscription_id: string | null; ended: boolean | null; says: "behind" | "due" | null }>(
  "visit_lanes",
  `with recursive visited as (
    (select t.subscription_id, 1 as hop from delivery_tasks t
     where t.epoch = ${epoch} and t.subscription_id > $1::uuid order by t.subscription_id limit 1)
    union all
    select (select t.subscription_id from delivery_tasks t
            where t.epoch = ${epoch} and t.subscription_id > v.subscription_id order by t.subscription_id limit 1), v.hop + 1
    from visited v where v.subscription_id is not null and v.hop < $2::int4
  )
  select v.subscription_id, s.id is null or not s.active as ended, null as says
  from visited v left join subscriptions s on s.id = v.subscription_id
  where v.subscription_id is not null
  union all
  select null, null, 'behind' where exists (select from delivery_tasks t where t.epoch = ${behindEpoch} limit 1)
  union all
  select null, null, 'due' where exists (
    select from delivery_tasks t where t.epoch = 0 and t.due_at <= $4::timestamptz order by t.due_at limit 1)
  order by subscription_id`,
);

/** A subscription that has tasks. `ended`: it is inactive or gone. */
export type VisitedLane = { readonly subscriptionId: string; readonly ended: boolean };

/** Which lanes are visited: up to `most` from after a subscription's UUID. */
export type LaneVisit = {
  readonly after: string;
  readonly most: number;
  readonly behind: boolean;
  readonly nowMs: number;
};

/** What a visit found. `hasBehind`: paced replays have something queued. `hasDue`: some that waited are due. */
export type VisitedLanes = { readonly lanes: VisitedLane[]; readonly hasBehind: boolean; readonly hasDue: boolean };

/** Visits lanes, in the order of their subscriptions. */
export async function visitLanes(db: Executor, { after, most, behind, nowMs }: LaneVisit): Promise<VisitedLanes> {
  const rows = await visit(db, [after, most, behind, isoTime(nowMs)]);
  const lanes = rows.flatMap(({ subscription_id: subscriptionId, ended }) =>
    subscriptionId === null ? [] : [{ subscriptionId, ended: ended === true }],
  );
  const isSaid = (what: "behind" | "due") => rows.some(({ says }) => says === what);
  return { lanes, hasBehind: isSaid("behind"), hasDue: isSaid("due") };
}
