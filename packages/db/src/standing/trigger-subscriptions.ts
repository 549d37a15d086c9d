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

/**
 * The subscription of one version of a standing program (a schedule) to a trigger, whose events start the program. It may be open or ended.
 */
export type TriggerSubscription = Readonly<Row<typeof standingListeners>>;

/**
 * A trigger of a project at one version of the project's routing (a number that grows when the receivers of events change). It selects the
 * subscriptions that were open at that version.
 */
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

const selectSubscriptions = compose(
  // The index standing_listeners_trigger needs one lookup for each project and trigger, newest subscriptions first.
  "find_standing_listeners",
  { heard: rows({ ...fieldsOf(standingListeners, "projectId", "triggerSlug"), routingVersion: int8 }) },
  ({ heard }) => query<
    RawRow<TriggerSubscription>
  >`select distinct ${columns.text} from ${heard.from("w")} cross join lateral (
      select * from standing_listeners where project_id = w.project_id and trigger_slug = w.trigger_slug
        and from_version <= w.routing_version and (until_version is null or until_version > w.routing_version) offset 0) l`,
);

/**
 * Returns the subscriptions of standing programs that were active when an event of the trigger was stored. Subscriptions that have ended
 * since are included.
 */
export async function findTriggerSubscriptions(
  db: Executor,
  heard: readonly SubscribedTrigger[],
): Promise<TriggerSubscription[]> {
  if (heard.length === 0) return [];
  return (await selectSubscriptions(db, { heard })).map((row) => columns.read(row));
}

/** The data of a new subscription of a standing program (which starts jobs on a schedule or event) to a trigger. */
export type NewTriggerSubscription = Pick<TriggerSubscription, "programId" | "projectId" | "triggerSlug" | "version">;

/**
 * Subscribes a standing program to the events of a trigger. Events that were stored before the end of this transaction do not start the
 * program. The transaction must hold the lock on the program.
 */
export async function openTriggerSubscription(tx: Executor, listener: NewTriggerSubscription): Promise<void> {
  const fromVersion = await touchProjectRouting(tx, listener.projectId);
  await tx.orm.insert(standingListeners).values({ ...listener, fromVersion });
}

/**
 * Ends the subscription of a standing program (a schedule) to a trigger, and stores the reason. The caller has locked the program. Events
 * that svc stored before this end can still start the program.
 */
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

/** Returns how many standing programs (schedules) of a project are subscribed to a trigger now. Ended subscriptions do not count. */
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

/**
 * Deletes ended subscriptions of standing programs (which start jobs on a schedule or event) to triggers, after a retention time. By then,
 * svc has decided about all events that were stored during the subscription. Uses the index standing_listeners_ended.
 */
const deleteEndedSubscriptions = statement<{ id: string }>(
  "sweep_standing_listeners",
  `delete from standing_listeners where ctid = any(array(
     select ctid from standing_listeners where ended_at < $1::timestamptz and ended_at is not null
     order by ended_at limit $2::int4)) returning program_id as id`,
);

/** Deletes at most `limit` trigger subscriptions that ended before `beforeMs`. Returns the number of deleted subscriptions. */
export async function sweepTriggerSubscriptions(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await deleteEndedSubscriptions(db, [isoTime(beforeMs), limit])).length;
}
