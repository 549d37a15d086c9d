import { type ProjectId, type ReplayId, uuidOfId } from "@svc/core";
import { and, eq, isNull, lt, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { expireDeliveries } from "../deliveries/expire.ts";
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
  { nowMs, reason }: { readonly nowMs: number; readonly reason: "requested" | "deleted" | "expired" },
): Promise<void> {
  if (pausedReplayId === null) return;
  const end: Partial<ReplayRecord> = { state: "cancelled", reason, waitsForId: null, endedAt: nowMs, updatedAt: nowMs };
  await tx.orm.update(replays).set(end).where(unfinished(projectId, pausedReplayId));
}

function unfinished(projectId: ProjectId, id: ReplayId) {
  return and(eq(replays.projectId, projectId), eq(replays.id, id), isNull(replays.endedAt));
}

/** Maximum parked deliveries that are ended in one transaction. */
const endedMax = 20_000;

/**
 * Deactivates up to `limit` subscriptions that have been paused since before `beforeMs`, and ends their parked deliveries. Otherwise svc
 * would have to keep the events that they missed. Returns how many pauses ended. Uses the index replays_unfinished.
 */
export async function expirePauses(
  db: Executor,
  { beforeMs, nowMs, limit }: { readonly beforeMs: number; readonly nowMs: number; readonly limit: number },
): Promise<number> {
  const over = await db.orm
    .select({ id: replays.id, projectId: replays.projectId, subscriptionId: replays.subscriptionId })
    .from(replays)
    .where(
      and(
        isNull(replays.endedAt),
        eq(replays.ofPause, true),
        eq(replays.state, "paused"),
        lt(replays.updatedAt, beforeMs),
      ),
    )
    .limit(limit);
  for (const { id, projectId, subscriptionId } of over) {
    if (subscriptionId === null) continue;
    const isOfPause = and(eq(subscriptions.id, subscriptionId), eq(subscriptions.pausedReplayId, id));
    await withTransaction(db, async (tx) => {
      await tx.orm
        .update(subscriptions)
        .set({ inactiveReason: "deactivated", pausedAt: null })
        .where(and(isOfPause, eq(subscriptions.inactiveReason, "paused")));
      await expireDeliveries(tx, subscriptionId, nowMs, endedMax);
      await endPause(tx, { projectId, pausedReplayId: id }, { nowMs, reason: "expired" });
    });
  }
  return over.length;
}
