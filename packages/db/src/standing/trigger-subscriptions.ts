import { isoTime, type ProjectId, type StandingProgramId } from "@svc/core";
import { and, eq, isNull } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { touchProjectRouting } from "../projects/repo.ts";
import { standingListeners } from "../schema/standing.ts";
import type { SubscriptionEndReason } from "../schema/words.ts";
import { fieldsOf, int8, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** Which trigger a version of a program listens to, or listened to. */
export type TriggerSubscription = Readonly<Row<typeof standingListeners>>;

/** Events of a trigger that were stored at a routing version of their project. */
export type SubscribedTrigger = {
  readonly projectId: ProjectId;
  readonly triggerSlug: string;
  readonly routingVersion: number;
};

const columns = selectList(
  standingListeners,
  ["programId", "fromVersion", "projectId", "triggerSlug", "version", "untilVersion", "endReason", "endedAt"],
  "l",
);

/** By standing_listeners_trigger, a probe each: the latest first, until none of a program is left that listened. */
const selectSubscriptions = compose(
  "find_standing_listeners",
  { heard: rows({ ...fieldsOf(standingListeners, "projectId", "triggerSlug"), routingVersion: int8 }) },
  ({ heard }) => query<
    RawRow<TriggerSubscription>
  >`select distinct ${columns.text} from ${heard.from("w")} cross join lateral (
      select * from standing_listeners where project_id = w.project_id and trigger_slug = w.trigger_slug
        and from_version <= w.routing_version and (until_version is null or until_version > w.routing_version) offset 0) l`,
);

/** Who listened to triggers when events of them were stored: also who does not any more. */
export async function findTriggerSubscriptions(
  db: Executor,
  heard: readonly SubscribedTrigger[],
): Promise<TriggerSubscription[]> {
  if (heard.length === 0) return [];
  return (await selectSubscriptions(db, { heard })).map((row) => columns.read(row));
}

/** What begins to listen. */
export type NewTriggerSubscription = Pick<TriggerSubscription, "programId" | "projectId" | "triggerSlug" | "version">;

/**
 * Lets a locked program listen to a trigger, from this transaction's end on: an event is stored either before that, and is not its own, or
 * it finds the routing of its project moved.
 */
export async function openTriggerSubscription(tx: Executor, listener: NewTriggerSubscription): Promise<void> {
  const fromVersion = await touchProjectRouting(tx, listener.projectId);
  await tx.orm.insert(standingListeners).values({ ...listener, fromVersion });
}

/** Lets a locked program listen to nothing any more: what was stored before is still its own, and told `reason`. */
export async function closeTriggerSubscription(
  tx: Executor,
  {
    programId,
    projectId,
    reason,
    nowMs,
  }: {
    readonly programId: StandingProgramId;
    readonly projectId: ProjectId;
    readonly reason: SubscriptionEndReason;
    readonly nowMs: number;
  },
): Promise<void> {
  const untilVersion = await touchProjectRouting(tx, projectId);
  await tx.orm
    .update(standingListeners)
    .set({ untilVersion, endReason: reason, endedAt: nowMs })
    .where(and(eq(standingListeners.programId, programId), isNull(standingListeners.untilVersion)));
}

/** How many programs of a project listen to a trigger. */
export function countTriggerSubscriptions(db: Executor, projectId: ProjectId, triggerSlug: string): Promise<number> {
  return db.orm.$count(
    standingListeners,
    and(
      eq(standingListeners.projectId, projectId),
      eq(standingListeners.triggerSlug, triggerSlug),
      isNull(standingListeners.untilVersion),
    ),
  );
}

/** By standing_listeners_ended; what was stored while they listened was decided about by then, or is found to be nobody's. */
const deleteEndedSubscriptions = statement<{ id: string }>(
  "sweep_standing_listeners",
  `delete from standing_listeners where ctid = any(array(
     select ctid from standing_listeners where ended_at < $1::timestamptz and ended_at is not null
     order by ended_at limit $2::int4)) returning program_id as id`,
);

/** Removes a batch of listeners that ended before a time; answers how many. */
export async function sweepTriggerSubscriptions(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await deleteEndedSubscriptions(db, [isoTime(beforeMs), limit])).length;
}
