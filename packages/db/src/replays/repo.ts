import { type EventId, firstUuidAt, idOfUuid, type ProjectId, type ReplayId, uuidOfId } from "@svc/core";
import { and, eq, isNull } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { replays } from "../schema/triggers.ts";
import type { Row } from "../sql/codec.ts";
import { newestOfProject } from "../sql/newest-first.ts";
import { statement } from "../sql/statement.ts";
import { type DueTaskLease, type NewDueTask, putDueTasks } from "../standing/task.ts";

/** The task of a replay that this node now holds. `attempt`: claims since it last went well, this one included. */
export type ClaimedReplay = {
  readonly id: ReplayId;
  readonly projectId: ProjectId;
  readonly dueAt: number;
  readonly leaseToken: number;
  readonly attempt: number;
};

/** The lease of a replay's task: the replay owns it, under its UUID. */
export function replayLease({ id, leaseToken }: Pick<ClaimedReplay, "id" | "leaseToken">): DueTaskLease {
  return { ...taskOf(id), leaseToken };
}

/** The task that moves a replay on. */
function newReplayTask(id: ReplayId, projectId: ProjectId, dueAt: number): NewDueTask {
  return { ...taskOf(id), projectId, dueAt };
}

function taskOf(id: ReplayId) {
  return { ownerId: idOfUuid("stp", uuidOfId(id)), kind: "replay", subject: "" } as const;
}

/** A paced replay as its row holds it. */
export type ReplayRecord = Readonly<Row<typeof replays>>;

/** What is decided when a replay starts. */
export type NewReplay = Pick<
  ReplayRecord,
  | "id"
  | "toolkitSlug"
  | "triggerSlug"
  | "subscriptionId"
  | "onlyUndelivered"
  | "since"
  | "until"
  | "perSecond"
  | "total"
  | "uncountedFromId"
  | "pacedAt"
  | "createdAt"
>;

/** A replay that was started, or why none was. */
type ReplayStart =
  | { readonly outcome: "started"; readonly replay: ReplayRecord }
  /** Another replay to the same subscription is not at its end. */
  | { readonly outcome: "running"; readonly id: ReplayId }
  /** As many are not at their end as may be. */
  | { readonly outcome: "too_many" };

/** What UpdateReplay and CancelReplay change. */
export type ReplayChange = Partial<
  Pick<ReplayRecord, "perSecond" | "state" | "reason" | "waitsForId" | "pacedAt" | "endedAt">
> &
  Pick<ReplayRecord, "updatedAt">;

/** The paced replays of one project. */
type ReplayRepository = {
  /** Starts a replay unless another one hinders it; `most` may be unfinished at once. Its task is due at its `createdAt`. */
  start(replay: NewReplay, most: number): Promise<ReplayStart>;
  find(id: ReplayId): Promise<ReplayRecord | undefined>;
  /** Newest first, from after `after`. */
  list(page: { after: ReplayId | undefined; limit: number }): Promise<ReplayRecord[]>;
  /**
   * Changes a replay once nobody queues deliveries of it; one that has ended stays as it is. Its task, where it goes on, is due at once.
   * Undefined when there is none.
   */
  change(id: ReplayId, changeOf: (before: ReplayRecord) => ReplayChange): Promise<ReplayRecord | undefined>;
};

/** Touches no row: of two that start a replay of a project at once, the second sees the first. */
const lockStarts = statement<{ locked: string }>(
  "lock_replay_starts",
  "select pg_advisory_xact_lock(hashtextextended('svc.replays.' || $1::uuid, 0))::text as locked",
);

/** The paced replays of one project. */
export function replaysForProject(db: Executor, projectId: ProjectId): ReplayRepository {
  const own = (id: ReplayId) => and(eq(replays.projectId, projectId), eq(replays.id, id));
  return {
    start: (replay, most) =>
      withTransaction(db, async (tx): Promise<ReplayStart> => {
        await lockStarts(tx, [uuidOfId(projectId)]);
        const unfinished = await tx.orm
          .select({ id: replays.id, subscriptionId: replays.subscriptionId })
          .from(replays)
          .where(and(eq(replays.projectId, projectId), isNull(replays.endedAt)));
        const { subscriptionId } = replay;
        const other = unfinished.find(
          (one) => subscriptionId === null || one.subscriptionId === null || one.subscriptionId === subscriptionId,
        );
        if (other !== undefined) return { outcome: "running", id: other.id };
        if (unfinished.length >= most) return { outcome: "too_many" };
        const [row] = await tx.orm
          .insert(replays)
          .values({ ...replay, projectId, state: "running", ...beginningOf(replay.since), updatedAt: replay.createdAt })
          .returning();
        if (row === undefined) throw new Error("an insert returned no row");
        await putDueTasks(tx, [newReplayTask(row.id, projectId, replay.createdAt)]);
        return { outcome: "started", replay: row };
      }),
    async find(id) {
      const [row] = await db.orm.select().from(replays).where(own(id));
      return row;
    },
    list({ after, limit }) {
      const { where, orderBy } = newestOfProject(replays, projectId, after && uuidOfId(after));
      return db.orm
        .select()
        .from(replays)
        .where(where)
        .orderBy(...orderBy)
        .limit(limit);
    },
    change: (id, changeOf) =>
      withTransaction(db, async (tx) => {
        const [before] = await tx.orm.select().from(replays).where(own(id)).for("no key update");
        if (before === undefined || before.endedAt !== null) return before;
        const change = changeOf(before);
        const [row] = await tx.orm.update(replays).set(change).where(own(id)).returning();
        if (row?.state === "running") await putDueTasks(tx, [newReplayTask(id, projectId, change.updatedAt)]);
        return row;
      }),
  };
}

/** No id is as low. */
const nilUuid = "00000000-0000-0000-0000-000000000000";

/** The position before the first pair of a time. */
function beginningOf(sinceMs: number): Pick<ReplayRecord, "positionEventId" | "positionSubscriptionId"> {
  return { positionEventId: firstEventAt(sinceMs), positionSubscriptionId: idOfUuid("sub", nilUuid) };
}

/** The lowest id that an event received at this time can have: a bound, which no event needs to have. */
export function firstEventAt(ms: number): EventId {
  return idOfUuid("evt", firstUuidAt(ms).replace("-0000-0000-", "-7000-8000-"));
}
