import { type ProjectId, type ReplayId, uuidOfId } from "@svc/core";
import { and, eq, isNull, lt, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { expireDeliveries, unparkDeliveries } from "../deliveries/expire.ts";
import { replays, subscriptions } from "../schema/triggers.ts";
import { putDueTasks } from "../standing/task.ts";
import type { Subscription } from "../subscriptions/repo.ts";
import { beginningOf, newReplayTask, type ReplayRecord } from "./repo.ts";

/** Deliveries per second with which a resumed subscription receives what it missed. */
const perSecond = 500;
/**
 * The range of a pause begins this long before the pause and ends this long after the resume, in milliseconds. An event may be committed
 * some seconds after the time in its id, and the clocks of nodes differ.
 */
const marginMs = 60_000;

/** A subscription that is paused, resumed or ended. */
type Paused = Pick<Subscription, "id" | "projectId" | "createdAt" | "pausedReplayId">;

/**
 * Keeps the events that a subscription misses from now on, by a paused replay without an end. Events from this replay's position on are not
 * deleted. If the subscription still catches up with an earlier pause, its replay is opened again. Returns the id of the replay.
 */
export async function openPause(tx: Executor, paused: Paused, nowMs: number, freshId: ReplayId): Promise<ReplayId> {
  const { projectId, id: subscriptionId, createdAt, pausedReplayId } = paused;
  const since = Math.max(nowMs - marginMs, createdAt);
  const from = beginningOf(since);
  if (pausedReplayId !== null) {
    const [row] = await tx.orm
      .update(replays)
      .set({
        ...{ state: "paused", reason: "", waitsForId: null, until: null, updatedAt: nowMs },
        // Pairs that have a delivery are skipped, so an earlier position queues nothing twice.
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
    ...{ pacedAt: nowMs, createdAt: nowMs, updatedAt: nowMs },
  });
  return freshId;
}

/** Ends the range of a pause, and starts its replay: the subscription receives what it missed. */
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

/** Ends the replay of a pause, if it has not ended, because the subscription is deactivated or deleted. */
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

/** Maximum parked deliveries that are ended or given back in one transaction. */
const endedMax = 20_000;

function over(beforeMs: number) {
  return and(eq(replays.state, "paused"), lt(replays.updatedAt, beforeMs));
}

/**
 * Deactivates up to `limit` subscriptions that have been paused since before `beforeMs`, and ends their parked deliveries. Otherwise svc
 * would have to keep the events that they missed. A resumed subscription whose replay has been paused for as long stays active, and gets its
 * parked deliveries back. Returns how many pauses were found. Uses the index replays_unfinished.
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
      // The subscription is locked first, as by a pause and a resume, which may have come before.
      await tx.orm.select({ id: subscriptions.id }).from(subscriptions).where(isIt).for("update");
      const replay = and(unfinished(projectId, id), over(beforeMs));
      const ended = await tx.orm
        .update(replays)
        .set(cancelled(nowMs, "expired"))
        .where(replay)
        .returning({ id: replays.id });
      if (ended.length === 0) return;
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
