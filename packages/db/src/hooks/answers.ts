import { type Id, isoTime, type ProjectId } from "@svc/core";
import { and, asc, eq, lt } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { hookAnswers } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** What a hook said of a call. */
export type HookAnswerRow = typeof hookAnswers.$inferSelect;

/** What hooks said of a call that was named so, where it binds its repeats. Served by hook_answers_key. */
export function findHookAnswersOfKey(db: Executor, projectId: ProjectId, callKey: string): Promise<HookAnswerRow[]> {
  return db.orm
    .select()
    .from(hookAnswers)
    .where(and(eq(hookAnswers.projectId, projectId), eq(hookAnswers.callKey, callKey)));
}

/** What hooks said of a call, in the order in which they were asked. */
export function listHookAnswers(db: Executor, projectId: ProjectId, callId: Id<"call">): Promise<HookAnswerRow[]> {
  return db.orm
    .select()
    .from(hookAnswers)
    .where(and(eq(hookAnswers.projectId, projectId), eq(hookAnswers.callId, callId)))
    .orderBy(asc(hookAnswers.askedAt));
}

/** Answers from before a time bind no repeats of a call any more. Served by hook_answers_key. */
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

/** Stores answers; false when another call of the same key was answered first by one of these hooks: its answers bind this call, too. */
export async function putHookAnswers(db: Executor, answers: readonly HookAnswerRow[]): Promise<boolean> {
  if (answers.length === 0) return true;
  const stored = await db.orm
    .insert(hookAnswers)
    .values([...answers])
    .onConflictDoNothing()
    .returning({ hookId: hookAnswers.hookId });
  const kept = new Set(stored.map(({ hookId }) => hookId));
  // What binds nobody may be there already, of this very call.
  return answers.every(({ callKey, hookId }) => callKey === null || kept.has(hookId));
}

/** From the old end of hook_answers_asked. */
const sweepAnswers = statement<{ id: string }>(
  "sweep_hook_answers",
  `delete from hook_answers a using (
     select project_id, call_id, hook_id from hook_answers where asked_at < $1::timestamptz
     order by asked_at limit $2::int4 for update skip locked) old
   where a.project_id = old.project_id and a.call_id = old.call_id and a.hook_id = old.hook_id returning a.hook_id as id`,
);

/** Removes up to `limit` answers from before a time; returns how many. */
export async function sweepHookAnswers(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepAnswers(db, [isoTime(beforeMs), limit])).length;
}
