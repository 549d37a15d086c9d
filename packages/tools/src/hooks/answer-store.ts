import { createHash } from "node:crypto";
import { type Clock, type Id, type ProjectId, readJsonObject, type Sealer } from "@svc/core";
import { wasJobConfirmed } from "@svc/db/asks/read";
import type { Database } from "@svc/db/connect";
import { findHookAnswersOfKey, type HookAnswerRow, putHookAnswers, releaseHookAnswers } from "@svc/db/hooks/answers";
import { keyLifeMs } from "../call/gate/keyed-call.ts";
import type { LedgerEntry } from "../call/record/ledger.ts";
import type { HookAnswer } from "./ask-hook.ts";
import type { Hook } from "./known-hooks.ts";

/** The answer of a hook (a URL of the project that svc asks about tool calls) about one call, and the time of the answer. */
export type GivenAnswer = {
  readonly hook: Pick<Hook, "id" | "phase">;
  readonly answer: HookAnswer;
  readonly askedAt: number;
  readonly durationMs: number;
  /**
   * True if this is the stored answer of a hook (an endpoint that checks tool calls) to an earlier attempt of the same call. False or
   * undefined if the hook was asked now.
   */
  readonly isRepeated?: boolean;
};

/** The earlier answer of a hook (an endpoint that checks tool calls) about a call, and the id of that call. */
export type HookAnswerFacts = Pick<GivenAnswer, "answer" | "askedAt" | "durationMs"> & { readonly callId: Id<"call"> };

/**
 * Stores the answers of hooks (endpoints that check tool calls) about calls, so that the ledger (record of all tool calls) can show every
 * answer. An answer that let a call be sent also applies to a repeat of the call with the same idempotency key. The hook is then not asked
 * again.
 */
export type AnswerStore = {
  /** Returns what hooks (endpoints that check tool calls) answered earlier about this call, by hook. */
  find(entry: LedgerEntry): Promise<ReadonlyMap<string, HookAnswerFacts>>;
  /**
   * Stores the answers of hooks (endpoints that svc asks about tool calls) to a call, and returns true. Returns false if another node
   * stored answers for the same call first. In that case, `find` returns the answers of that node.
   */
  put(entry: LedgerEntry, given: readonly GivenAnswer[]): Promise<boolean>;
  /**
   * True if a person confirmed the job that makes the call, or the program that this job runs as a skill. False if no person confirmed it.
   */
  isConfirmed(entry: LedgerEntry): Promise<boolean>;
};

/** Dependencies of the store for the answers of hooks (endpoints that svc asks about tool calls). */
export type AnswerStoreOptions = { readonly db: Database; readonly sealer: Sealer; readonly clock: Clock };

/** Creates the store of the decisions of hooks (URLs of a project that svc asks about tool calls). */
export function createAnswerStore({ db, sealer, clock }: AnswerStoreOptions): AnswerStore {
  return {
    async find(entry) {
      const key = callKeyOf(entry);
      if (key === undefined) return new Map();
      const { projectId, job } = entry.caller;
      const rows = await findHookAnswersOfKey(db, projectId, key);
      // The answers are valid as long as the idempotency key. A caller's key is valid for one day; after that, the same call counts as a
      // new call.
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
      // It is enough to check that svc asked a person: the job is running, so the answer cannot have been no.
      return job !== undefined && wasJobConfirmed(db, job.id);
    },
  };
}

/**
 * Returns the key under which the answers of hooks (endpoints that check tool calls) are stored. It is the same only for the same call by
 * the same API key with the same idempotency key. The API key counts, because hooks see which key calls. A call that the sandbox answers
 * and a call of the real app never have the same key.
 */
function callKeyOf({ caller, idempotencyKey, callDigest, isPlayed }: LedgerEntry): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  const hash = createHash("sha256")
    .update(`${caller.keyId ?? ""}\0${idempotencyKey}\0`)
    .update(callDigest);
  return (isPlayed === true ? hash.update("\0played") : hash).digest("hex");
}

function rowOf(sealer: Sealer, entry: LedgerEntry, given: GivenAnswer): HookAnswerRow {
  const { hook, answer, askedAt, durationMs, isRepeated = false } = given;
  const { id: callId, caller, entityId } = entry;
  const { projectId } = caller;
  const isBinding =
    !isRepeated && hook.phase === "before" && (answer.decision === "allow" || answer.decision === "edit");
  // Only changes of arguments are stored. If a hook replaced a result, the ledger already contains the new result.
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
