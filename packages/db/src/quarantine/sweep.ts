import { firstUuidAt } from "@svc/core";
import type { Executor } from "../connect.ts";
import { statement } from "../sql/statement.ts";

/** From the old end of the primary key. */
const sweepQuarantine = statement<{ id: string }>(
  "sweep_quarantined_posts",
  `delete from quarantined_posts where id in (select id from quarantined_posts where id < $1::uuid order by id limit $2::int4 for update skip locked)
   returning id`,
);

/** Removes up to `limit` quarantined posts received before `beforeMs`, released or not; returns how many. */
export async function sweepQuarantinedPosts(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepQuarantine(db, [firstUuidAt(beforeMs), limit])).length;
}
