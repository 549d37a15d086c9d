import {
  type EventId,
  firstUuidAt,
  idOfUuid,
  type ProjectId,
  type ReplayId,
  type SubscriptionId,
  uuidOfId,
} from "@svc/core";
import { and, eq, inArray, isNull } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { replays, subscriptions } from "../schema/triggers.ts";
import type { Row } from "../sql/codec.ts";
import { filterColumn } from "../sql/filter.ts";
import { newestOfProject } from "../sql/newest-first.ts";
import { statement } from "../sql/statement.ts";
import { type DueTaskLease, type NewDueTask, putDueTasks } from "../standing/task.ts";

/**
 * The task of a replay that this node now holds. `attempt`: number of claims since the task's work last succeeded, including this claim.
 */
export type ClaimedReplay = {
  readonly id: ReplayId;
  readonly projectId: ProjectId;
  readonly dueAt: number;
  readonly leaseToken: number;
  readonly attempt: number;
};

/** Returns the lease of the task that continues a replay. A lease gives a task to one node for a limited time. */
export function replayLease({ id, leaseToken }: Pick<ClaimedReplay, "id" | "leaseToken">): DueTaskLease {
  return { ...taskOf(id), leaseToken };
}

/** Returns the task by which a node continues a throttled replay. It is due at `dueAt` (epoch milliseconds). */
export function newReplayTask(id: ReplayId, projectId: ProjectId, dueAt: number): NewDueTask {
  return { ...taskOf(id), projectId, dueAt };
}

function taskOf(id: ReplayId) {
  // The column has the type of a schedule's id, so the replay's UUID is written as such an id.
  return { ownerId: idOfUuid("stp", uuidOfId(id)), kind: "replay", subject: "" } as const;
}

/** A throttled replay (repeated delivery of past events, spread over time), with all columns of its database row. */
export type ReplayRecord = Readonly<Row<typeof replays>>;

/** Columns of a new replay (repeated delivery of past events) that the caller sets. */
export type NewReplay = Pick<
  ReplayRecord,
  | "id"
  | "toolkitSlug"
  | "triggerSlug"
  | "subscriptionId"
  | "onlyUndelivered"
  | "onlyFailed"
  | "since"
  | "until"
  | "perSecond"
  | "total"
  | "uncountedFromId"
  | "pacedAt"
  | "createdAt"
  | "origin"
>;

/**
 * Maximum numbers of unfinished replays that the project started, and that all customers together started. Replays after a pause do not
 * count.
 */
type ReplayLimits = { readonly ofProject: number; readonly ofCustomers: number };

/** Result of starting a replay: the started replay, or the reason why none was started. */
export type ReplayStart =
  | { readonly outcome: "started"; readonly replay: ReplayRecord }
  /** The new replay was not started, because the unfinished replay `id` may deliver to the same subscription. */
  | { readonly outcome: "running"; readonly id: ReplayId }
  /** The customer already has the unfinished replay `id`. That replay is for another subscription of the customer. */
  | { readonly outcome: "customer_running"; readonly id: ReplayId }
  /** The project, or its customers together, already have the maximum number of unfinished replays. */
  | { readonly outcome: "too_many" };

/** Columns of a replay that a change or cancellation by a user writes (UpdateReplay, CancelReplay). */
export type ReplayChange = Partial<
  Pick<ReplayRecord, "perSecond" | "state" | "reason" | "waitsForId" | "pacedAt" | "endedAt">
> &
  Pick<ReplayRecord, "updatedAt">;

/** The throttled replays of one project. */
type ReplayRepository = {
  /**
   * Starts a replay, whose task is due at `createdAt`. Starts none if an unfinished replay overlaps it, or if `limits` allows none. The
   * result says the reason.
   */
  start(replay: NewReplay, limits: ReplayLimits): Promise<ReplayStart>;
  find(id: ReplayId): Promise<ReplayRecord | undefined>;
  /**
   * Returns the project's replays, newest first, beginning after the id `after`. `to`: if given, only replays to one of these subscriptions
   * are returned.
   */
  list(page: { after: ReplayId | undefined; limit: number }, to?: readonly SubscriptionId[]): Promise<ReplayRecord[]>;
  /**
   * Changes a replay as `changeOf` says, and returns it. Waits until no transaction is queuing the replay's deliveries. A replay that has
   * ended does not change. If the replay is running after the change, its task is due at once. Undefined if the project has no such replay.
   */
  change(id: ReplayId, changeOf: (before: ReplayRecord) => ReplayChange): Promise<ReplayRecord | undefined>;
};

/**
 * Takes an advisory lock, which locks no row. If two replays of a project start at the same time, the second start waits and then sees the
 * first replay.
 */
const lockStarts = statement<{ locked: string }>(
  "lock_replay_starts",
  "select pg_advisory_xact_lock(hashtextextended('svc.replays.' || $1::uuid, 0))::text as locked",
);

/** Returns the repository of one project's throttled replays (repeated deliveries of past events that are spread over time). */
export function replaysForProject(db: Executor, projectId: ProjectId): ReplayRepository {
  const own = (id: ReplayId) => and(eq(replays.projectId, projectId), eq(replays.id, id));
  return {
    start: (replay, limits) =>
      withTransaction(db, async (tx): Promise<ReplayStart> => {
        await lockStarts(tx, [uuidOfId(projectId)]);
        const refused = await findRefusal(tx, projectId, replay, limits);
        if (refused !== undefined) return refused;
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
    list({ after, limit }, to) {
      const { where, orderBy } = newestOfProject(replays, projectId, after && uuidOfId(after));
      return db.orm
        .select()
        .from(replays)
        .where(to === undefined ? where : and(where, inArray(replays.subscriptionId, [...to])))
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

/** Columns of an unfinished replay that decide if another one may start. */
type UnfinishedReplay = Pick<ReplayRecord, "id" | "subscriptionId" | "origin" | "state" | "reason">;

/** Returns the reason why a replay must not start, or undefined if it may start. Call `lockStarts` first. */
async function findRefusal(
  tx: Executor,
  projectId: ProjectId,
  { subscriptionId, origin }: Pick<NewReplay, "subscriptionId" | "origin">,
  limits: ReplayLimits,
): Promise<ReplayStart | undefined> {
  const { id, state, reason } = replays;
  const unfinished = await tx.orm
    .select({ id, subscriptionId: replays.subscriptionId, origin: replays.origin, state, reason })
    .from(replays)
    .where(and(eq(replays.projectId, projectId), isNull(replays.endedAt), eq(replays.ofPause, false)));
  // A customer's unfinished replay blocks only replays to the same subscription.
  const other = unfinished.find(
    (one) =>
      one.subscriptionId === subscriptionId ||
      (one.origin === "" && (one.subscriptionId === null || subscriptionId === null)),
  );
  if (other !== undefined) return { outcome: "running", id: other.id };
  const own = unfinished.filter((one) => one.origin === origin);
  if (origin === "") return own.length < limits.ofProject ? undefined : { outcome: "too_many" };
  const ofCustomer =
    subscriptionId === null ? undefined : await findOfCustomer(tx, projectId, { started: own, subscriptionId });
  if (ofCustomer !== undefined) return { outcome: "customer_running", id: ofCustomer.id };
  return own.filter(isQueuing).length < limits.ofCustomers ? undefined : { outcome: "too_many" };
}

/**
 * Returns one of the replays in `started` that goes to a subscription of the same entity (customer or user) as `subscriptionId`. Undefined
 * if there is none. Finds the subscriptions by primary key.
 */
async function findOfCustomer(
  tx: Executor,
  projectId: ProjectId,
  {
    started,
    subscriptionId,
  }: { readonly started: readonly UnfinishedReplay[]; readonly subscriptionId: SubscriptionId },
): Promise<UnfinishedReplay | undefined> {
  const ids = [subscriptionId, ...started.flatMap((one) => one.subscriptionId ?? [])];
  const { id, entityId } = subscriptions;
  const isOfProject = filterColumn(subscriptions.projectId, projectId);
  const rows = await tx.orm
    .select({ id, entityId })
    .from(subscriptions)
    .where(and(inArray(id, ids), isOfProject));
  const entities = new Map(rows.map((row) => [row.id, row.entityId]));
  const entity = entities.get(subscriptionId);
  return started.find((one) => one.subscriptionId !== null && entities.get(one.subscriptionId) === entity);
}

/** True if a replay queues deliveries. False if it is paused, or waits for an endpoint that fails or is inactive, maybe for long. */
function isQueuing({ state, reason }: UnfinishedReplay): boolean {
  return state === "running" && reason !== "backoff" && reason !== "inactive";
}

/** The lowest UUID. No id is lower, so it is the start of a range that has no other start. */
const nilUuid = "00000000-0000-0000-0000-000000000000";

/**
 * Returns the position at which a replay of events from `sinceMs` on begins: before the first event, and before the first subscription of
 * this event.
 */
export function beginningOf(sinceMs: number): Pick<ReplayRecord, "positionEventId" | "positionSubscriptionId"> {
  return { positionEventId: firstEventAt(sinceMs), positionSubscriptionId: idOfUuid("sub", nilUuid) };
}

/** Returns the lowest id that an event received at this time can have. It is a bound for searches; an event with this id need not exist. */
export function firstEventAt(ms: number): EventId {
  return idOfUuid("evt", firstUuidAt(ms).replace("-0000-0000-", "-7000-8000-"));
}
