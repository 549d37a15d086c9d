import { createHash } from "node:crypto";
import { type Clock, type Id, type ProjectId, readJsonObject, type Sealer } from "@svc/core";
import { wasJobConfirmed } from "@svc/db/asks/read";
import type { Database } from "@svc/db/connect";
import { findHookAnswersOfKey, type HookAnswerRow, putHookAnswers, releaseHookAnswers } from "@svc/db/hooks/answers";
import { keyLifeMs } from "../call/gate/keyed-call.ts";
import type { LedgerEntry } from "../call/record/ledger.ts";
import type { HookAnswer } from "./ask-hook.ts";
import type { Hook } from "./known-hooks.ts";

/** What a hook said of a call, and when. */
export type GivenAnswer = {
  readonly hook: Pick<Hook, "id" | "phase">;
  readonly answer: HookAnswer;
  readonly askedAt: number;
  readonly durationMs: number;
  /** Of a call that is made again: the first is answered for it. */
  readonly isRepeated?: boolean;
};

/** What a hook said of a call before, and of which. */
export type HookAnswerFacts = Pick<GivenAnswer, "answer" | "askedAt" | "durationMs"> & { readonly callId: Id<"call"> };

/** What is kept of answers: all of them for the ledger, and what a call that is made again is bound by. */
export type AnswerStore = {
  /** What hooks said of the call before, by hook: of one that its caller named alone, for as long as the name binds. */
  find(entry: LedgerEntry): Promise<ReadonlyMap<string, HookAnswerFacts>>;
  /** False when the same call was answered first elsewhere: what it was told is to be found. */
  put(entry: LedgerEntry, given: readonly GivenAnswer[]): Promise<boolean>;
  /** Whether a person confirmed the job that makes the call, or the program that runs it as a skill. */
  isConfirmed(entry: LedgerEntry): Promise<boolean>;
};

/** What it works with. */
export type AnswerStoreOptions = { readonly db: Database; readonly sealer: Sealer; readonly clock: Clock };

/** Makes it. */
export function createAnswerStore({ db, sealer, clock }: AnswerStoreOptions): AnswerStore {
  return {
    async find(entry) {
      const key = callKeyOf(entry);
      if (key === undefined) return new Map();
      const { projectId, job } = entry.caller;
      const rows = await findHookAnswersOfKey(db, projectId, key);
      // As the key itself: a caller's binds for a day, and the same call under it is another one from then on.
      const beforeMs = job === undefined ? clock.now() - keyLifeMs + 1 : 0;
      const binding = rows.filter(({ askedAt }) => askedAt >= beforeMs);
      if (binding.length < rows.length) await releaseHookAnswers(db, { projectId, callKey: key, beforeMs });
      return new Map(binding.map((row) => [row.hookId, factsOf(sealer, row)]));
    },
    put: (entry, given) =>
      putHookAnswers(
        db,
        given.map((one) => rowOf(sealer, entry, one)),
      ),
    async isConfirmed({ caller: { job } }) {
      // It runs, so nobody answered otherwise.
      return job !== undefined && wasJobConfirmed(db, job.id);
    },
  };
}

/** The same for the same call of the same key under the same idempotency key, and for no other call: hooks are told whose it is. */
function callKeyOf({ caller, idempotencyKey, callDigest }: LedgerEntry): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  return createHash("sha256")
    .update(`${caller.keyId ?? ""}\0${idempotencyKey}\0`)
    .update(callDigest)
    .digest("hex");
}

function rowOf(sealer: Sealer, entry: LedgerEntry, given: GivenAnswer): HookAnswerRow {
  const { hook, answer, askedAt, durationMs, isRepeated = false } = given;
  const { id: callId, caller, entityId } = entry;
  const { projectId } = caller;
  const isBinding =
    !isRepeated && hook.phase === "before" && (answer.decision === "allow" || answer.decision === "edit");
  // What takes the place of a result is in the ledger already.
  const edit = isBinding && answer.decision === "edit" ? JSON.stringify(answer.edit) : undefined;
  return {
    ...{ projectId, callId, hookId: hook.id, entityId, decision: answer.decision, askedAt, durationMs },
    callKey: isBinding ? (callKeyOf(entry) ?? null) : null,
    edit: edit === undefined ? null : sealer.seal(Buffer.from(edit), contextOf(projectId, callId, hook.id)),
  };
}

function factsOf(sealer: Sealer, row: HookAnswerRow): HookAnswerFacts {
  const { callId, askedAt, durationMs } = row;
  return { answer: answerOf(sealer, row), callId, askedAt, durationMs };
}

function answerOf(sealer: Sealer, { projectId, callId, hookId, edit }: HookAnswerRow): HookAnswer {
  if (edit === null) return { decision: "allow" };
  const text = sealer.open(edit, contextOf(projectId, callId, hookId)).toString("utf8");
  return { decision: "edit", edit: readJsonObject(text, "hook_answers.edit") };
}

function contextOf(projectId: ProjectId, callId: Id<"call">, hookId: string): string {
  return `${projectId}/hook_answers/${callId}/${hookId}`;
}
