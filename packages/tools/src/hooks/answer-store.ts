import { createHash } from "node:crypto";
import { type Id, type ProjectId, readJsonObject, type Sealer } from "@svc/core";
import { type Database, findHookAnswersOfKey, type HookAnswerRow, putHookAnswers } from "@svc/db";
import type { LedgerEntry } from "../call/ledger.ts";
import type { HookAnswer } from "./ask-hook.ts";
import type { Hook } from "./known-hooks.ts";

/** What a hook said of a call, and when. */
export type Given = {
  readonly hook: Pick<Hook, "id" | "phase">;
  readonly answer: HookAnswer;
  readonly askedAt: number;
  readonly durationMs: number;
};

/** What is kept of answers: all of them for the ledger, and what a call that is made again is bound by. */
export type AnswerStore = {
  /** What hooks said of the call before, by hook: of one that its caller named alone. */
  find(entry: LedgerEntry): Promise<ReadonlyMap<string, HookAnswer>>;
  /** False when the same call was answered first elsewhere: what it was told is to be found. */
  put(entry: LedgerEntry, given: readonly Given[]): Promise<boolean>;
};

/** Makes it. */
export function createAnswerStore({ db, sealer }: { db: Database; sealer: Sealer }): AnswerStore {
  return {
    async find(entry) {
      const key = callKeyOf(entry);
      if (key === undefined) return new Map();
      const rows = await findHookAnswersOfKey(db, entry.caller.projectId, key);
      return new Map(rows.map((row) => [row.hookId, answerOf(sealer, row)]));
    },
    put: (entry, given) =>
      putHookAnswers(
        db,
        given.map((one) => rowOf(sealer, entry, one)),
      ),
  };
}

/** The same for the same call under the same idempotency key, and for no other call. */
function callKeyOf({ idempotencyKey, callDigest }: LedgerEntry): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  return createHash("sha256").update(idempotencyKey).update("\0").update(callDigest).digest("hex");
}

function rowOf(sealer: Sealer, entry: LedgerEntry, { hook, answer, askedAt, durationMs }: Given): HookAnswerRow {
  const { id: callId, caller, entityId } = entry;
  const { projectId } = caller;
  const isBinding = hook.phase === "before" && (answer.decision === "allow" || answer.decision === "edit");
  // What takes the place of a result is in the ledger already.
  const edit = isBinding && answer.decision === "edit" ? JSON.stringify(answer.edit) : undefined;
  return {
    ...{ projectId, callId, hookId: hook.id, entityId, decision: answer.decision, askedAt, durationMs },
    callKey: isBinding ? (callKeyOf(entry) ?? null) : null,
    edit: edit === undefined ? null : sealer.seal(Buffer.from(edit), contextOf(projectId, callId, hook.id)),
  };
}

function answerOf(sealer: Sealer, { projectId, callId, hookId, edit }: HookAnswerRow): HookAnswer {
  if (edit === null) return { decision: "allow" };
  const text = sealer.open(edit, contextOf(projectId, callId, hookId)).toString("utf8");
  return { decision: "edit", edit: readJsonObject(text, "hook_answers.edit") };
}

function contextOf(projectId: ProjectId, callId: Id<"call">, hookId: string): string {
  return `${projectId}/hook_answers/${callId}/${hookId}`;
}
