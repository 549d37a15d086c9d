import { type Id, isoTime, type ProjectId } from "@svc/core";
import { and, asc, eq, lt } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { hookAnswers } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** The stored decision of a hook (an endpoint of the project that svc asks about tool calls) on one call. */
export type HookAnswerRow = typeof hookAnswers.$inferSelect;

/**
 * Returns the stored decisions of hooks (URLs of a project that svc asks about tool calls) for an idempotency key. They apply to every
 * repeat of the call with this key. Uses the index hook_answers_key.
 */
export function findHookAnswersOfKey(db: Executor, projectId: ProjectId, callKey: string): Promise<HookAnswerRow[]> {
  return db.orm
    .select()
    .from(hookAnswers)
    .where(and(eq(hookAnswers.projectId, projectId), eq(hookAnswers.callKey, callKey)));
}

/** Returns the decisions of hooks (endpoints that check tool calls) about a call, in the order in which svc asked the hooks. */
export function listHookAnswers(db: Executor, projectId: ProjectId, callId: Id<"call">): Promise<HookAnswerRow[]> {
  return db.orm
    .select()
    .from(hookAnswers)
    .where(and(eq(hookAnswers.projectId, projectId), eq(hookAnswers.callId, callId)))
    .orderBy(asc(hookAnswers.askedAt));
}

/**
 * Removes the idempotency key from stored decisions of hooks (URLs that svc asks about a tool call) that are older than `beforeMs`. If the
 * call is then repeated, svc asks the hooks again. Uses the index hook_answers_key.
 */
export async function releaseHookAnswers(
  db: Executor,
  { projectId, callKey, beforeMs }: { projectId: ProjectId; callKey: string; beforeMs: number },
): Promise<void> {
  await db.orm
    .update(hookAnswers)
    .set({ callKey: null })
    .where(
      and(eq(hookAnswers.projectId, projectId), eq(hookAnswers.callKey, callKey), lt(hookAnswers.askedAt, beforeMs)),
    );
}

/**
 * Stores decisions of hooks (endpoints that check tool calls) about a call. Returns false if a hook has already decided about another call
 * with the same idempotency key. The stored decision then applies to this call too.
 */
export async function putHookAnswers(db: Executor, answers: readonly HookAnswerRow[]): Promise<boolean> {
  if (answers.length === 0) return true;
  const stored = await db.orm
    .insert(hookAnswers)
    .values([...answers])
    .onConflictDoNothing()
    .returning({ hookId: hookAnswers.hookId });
  const kept = new Set(stored.map(({ hookId }) => hookId));
  // An answer was not inserted, and it has no idempotency key. Then the same answer of this hook for this same call is already stored. So
  // it is not a conflict with another node.
  return answers.every(({ callKey, hookId }) => callKey === null || kept.has(hookId));
}

/**
 * Deletes answers of hooks (URLs of a project that svc asks before a tool call) from before a given time, oldest first. Finds them by the
 * index hook_answers_asked.
 */
const sweepAnswers = statement<{ id: string }>(
  "sweep_hook_answers",
  `delete from hook_answers a using (
     select project_id, call_id, hook_id from hook_answers where asked_at < $1::timestamptz
     order by asked_at limit $2::int4 for update skip locked) old
   where a.project_id = old.project_id and a.call_id = old.call_id and a.hook_id = old.hook_id returning a.hook_id as id`,
);

/**
 * Deletes up to `limit` stored decisions of hooks (URLs of a project that svc asks about tool calls) from before `beforeMs`. Returns the
 * number of deleted decisions.
 */
export async function sweepHookAnswers(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepAnswers(db, [isoTime(beforeMs), limit])).length;
}
