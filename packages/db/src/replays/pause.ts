import { type ProjectId, type ReplayId, uuidOfId } from "@svc/core";
import { and, eq, isNull, lt, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { expireDeliveries, unparkDeliveries } from "../deliveries/expire.ts";
import { replays, subscriptions } from "../schema/triggers.ts";
import { putDueTasks } from "../standing/task.ts";
import type { Subscription } from "../subscriptions/repo.ts";
import { beginningOf, newReplayTask, type ReplayRecord } from "./repo.ts";

/** Number of deliveries per second at which a resumed subscription receives the events of its pause. */
const perSecond = 500;
/**
 * Milliseconds that svc adds to both ends of a pause when it looks for missed events. An event may be committed some seconds after the time
 * in its id, and the clocks of nodes differ.
 */
const marginMs = 60_000;

/** Columns of a subscription that is paused, resumed or ended. */
type Paused = Pick<Subscription, "id" | "projectId" | "createdAt" | "pausedReplayId">;

/**
 * The beginning of a subscription's pause. `freshId`: id for a new replay, which later delivers the missed events. `origin`: `portal` if a
 * customer pauses.
 */
type Pause = Pick<ReplayRecord, "origin"> & { readonly nowMs: number; readonly freshId: ReplayId };

/**
 * Makes svc keep the events that a subscription misses while it is paused. For this, it stores a replay (a request to deliver events again)
 * that is paused and has no end. Events after the position of a replay are not deleted. If the replay of an earlier pause has not finished,
 * its position is moved back and it is used for this pause. Returns the id of the replay.
 */
export async function openPause(tx: Executor, paused: Paused, { nowMs, freshId, origin }: Pause): Promise<ReplayId> {
  const { projectId, id: subscriptionId, createdAt, pausedReplayId } = paused;
  const since = Math.max(nowMs - marginMs, createdAt);
  const from = beginningOf(since);
  if (pausedReplayId !== null) {
    const [row] = await tx.orm
      .update(replays)
      .set({
        ...{ state: "paused", reason: "", waitsForId: null, until: null, updatedAt: nowMs, origin },
        // The position may be earlier than needed: pairs of event and subscription that have a delivery are skipped, so nothing is queued
        // twice.
        positionEventId: sql`least(${replays.positionEventId}, ${uuidOfId(from.positionEventId)}::uuid)`,
        positionSubscriptionId: from.positionSubscriptionId,
      })
      .where(unfinished(projectId, pausedReplayId))
      .returning({ id: replays.id });
    if (row !== undefined) return row.id;
  }
  await tx.orm.insert(replays).values({
    ...{
      id: freshId,
      projectId,
      subscriptionId,
      toolkitSlug: "",
      triggerSlug: "",
      ofPause: true,
      onlyUndelivered: true,
    },
    ...{ state: "paused", since, until: null, perSecond, uncountedFromId: from.positionEventId, ...from },
    ...{ pacedAt: nowMs, createdAt: nowMs, updatedAt: nowMs, origin },
  });
  return freshId;
}

/** Ends a subscription's pause, and starts the replay that delivers the events which the subscription missed. */
export async function closePause(tx: Executor, paused: Paused, nowMs: number): Promise<void> {
  const { projectId, pausedReplayId } = paused;
  if (pausedReplayId === null) return;
  const [row] = await tx.orm
    .update(replays)
    .set({
      ...{ state: "running", until: nowMs + marginMs, pacedAt: nowMs, updatedAt: nowMs },
      ...{ total: sql`${replays.queued}`, uncountedFromId: sql`${replays.positionEventId}` },
    })
    .where(unfinished(projectId, pausedReplayId))
    .returning({ id: replays.id });
  if (row !== undefined) await putDueTasks(tx, [newReplayTask(row.id, projectId, nowMs)]);
}

/**
 * Ends the replay that would send the missed events of a paused subscription, because the subscription is deactivated or deleted. Does
 * nothing if the replay has ended.
 */
export async function endPause(
  tx: Executor,
  { projectId, pausedReplayId }: Pick<Paused, "projectId" | "pausedReplayId">,
  { nowMs, reason }: { readonly nowMs: number; readonly reason: "requested" | "deleted" },
): Promise<void> {
  if (pausedReplayId === null) return;
  await tx.orm.update(replays).set(cancelled(nowMs, reason)).where(unfinished(projectId, pausedReplayId));
}

function cancelled(nowMs: number, reason: "requested" | "deleted" | "expired"): Partial<ReplayRecord> {
  return { state: "cancelled", reason, waitsForId: null, endedAt: nowMs, updatedAt: nowMs };
}

function unfinished(projectId: ProjectId, id: ReplayId) {
  return and(eq(replays.projectId, projectId), eq(replays.id, id), isNull(replays.endedAt));
}

/** Maximum number of parked deliveries (stored as waiting, without a task) that one transaction ends or returns to their queue. */
const endedMax = 20_000;

function over(beforeMs: number) {
  return and(eq(replays.state, "paused"), lt(replays.updatedAt, beforeMs));
}

/**
 * Ends pauses of subscriptions that began before `beforeMs`, so that svc need not keep their events forever. Returns the number of pauses
 * found, at most `limit`.
 */
export async function expirePauses(
  db: Executor,
  { beforeMs, nowMs, limit }: { readonly beforeMs: number; readonly nowMs: number; readonly limit: number },
): Promise<number> {
  const found = await db.orm
    .select({ id: replays.id, projectId: replays.projectId, subscriptionId: replays.subscriptionId })
    .from(replays)
    .where(and(isNull(replays.endedAt), eq(replays.ofPause, true), over(beforeMs)))
    .limit(limit);
  for (const { id, projectId, subscriptionId } of found) {
    if (subscriptionId === null) continue;
    const isIt = eq(subscriptions.id, subscriptionId);
    await withTransaction(db, async (tx) => {
      // Locks the subscription first, in the same order as a pause or a resume does. One of them may have been committed since the search.
      await tx.orm.select({ id: subscriptions.id }).from(subscriptions).where(isIt).for("update");
      const replay = and(unfinished(projectId, id), over(beforeMs));
      const ended = await tx.orm
        .update(replays)
        .set(cancelled(nowMs, "expired"))
        .where(replay)
        .returning({ id: replays.id });
      if (ended.length === 0) return;
      // A subscription that is still paused is deactivated, and its parked deliveries end. If it was resumed, these return to the queue.
      const deactivated = await tx.orm
        .update(subscriptions)
        .set({ inactiveReason: "deactivated", pausedAt: null })
        .where(and(isIt, eq(subscriptions.pausedReplayId, id), eq(subscriptions.inactiveReason, "paused")))
        .returning({ id: subscriptions.id });
      if (deactivated.length > 0) await expireDeliveries(tx, subscriptionId, nowMs, endedMax);
      else while ((await unparkDeliveries(tx, subscriptionId, nowMs, endedMax)) >= endedMax);
    });
  }
  return found.length;
}
