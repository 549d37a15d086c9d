import type { AccountId, Clock, Id } from "@svc/core";
import { type Database, doubtRunningCall, type KeyHolder, releaseIdempotencyKey } from "@svc/db";
import { callInProgress, idempotencyKeyReused } from "../errors.ts";
import { type CallResult, resultOf } from "../outcome.ts";
import { parseExactJson } from "./exact-json.ts";
import type { KeyStore } from "./key-store.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";

/** What idempotency keys work with. */
export type KeyContext = {
  readonly db: Database;
  readonly keys: KeyStore;
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** Whether the transport is the sandbox. */
  readonly isSandbox: boolean;
  /** A call that has run for longer lost its node: its deadline is 30 s. Default 2 minutes. */
  readonly runningMaxMs?: number | undefined;
};

/** What the call that holds an idempotency key was answered. */
export type EarlierAnswer = { readonly callId: Id<"call">; readonly result: CallResult };

/** How long an idempotency key of a caller binds. Those of a job's calls bind for as long as the ledger keeps them. */
export const keyLifeMs = 24 * 3_600_000;
const runningMaxDefaultMs = 120_000;

/** Why a call without a recorded end is in doubt. */
export const nodeLost = "the node that made the call ended before it recorded an outcome; it may have been executed";

/**
 * The answer of the call that holds the entry's idempotency key; undefined when none does. Throws IDEMPOTENCY_KEY_REUSED and
 * CALL_IN_PROGRESS.
 */
export async function findEarlier(context: KeyContext, entry: LedgerEntry): Promise<EarlierAnswer | undefined> {
  const { idempotencyKey } = entry;
  if (idempotencyKey === undefined) return undefined;
  for (;;) {
    const holder = await context.keys.find(entry.caller.projectId, idempotencyKey);
    if (holder === undefined) return undefined;
    const earlier = await answerEarlier(context, entry, idempotencyKey, holder);
    if (earlier !== undefined) return earlier;
  }
}

/**
 * Commits that a call under its idempotency key is about to be sent; undefined for an entry without one. Answers as `findEarlier`
 * when another call took the key meanwhile.
 */
export async function beginKeyed(
  context: KeyContext,
  entry: LedgerEntry,
  accountId: AccountId | undefined,
): Promise<EarlierAnswer | undefined> {
  const { idempotencyKey } = entry;
  if (idempotencyKey === undefined) return undefined;
  const row = { ...context.ledger.begun(entry, accountId, context.isSandbox), idempotencyKey };
  for (;;) {
    if (await context.keys.take(row)) return undefined;
    const earlier = await findEarlier(context, entry);
    if (earlier !== undefined) return earlier;
  }
}

/** The answer of the call that holds the key; undefined when who holds it must be looked at again. */
async function answerEarlier(
  context: KeyContext,
  entry: LedgerEntry,
  key: string,
  holder: KeyHolder,
): Promise<EarlierAnswer | undefined> {
  const { db, clock, runningMaxMs = runningMaxDefaultMs } = context;
  const { projectId, job } = entry.caller;
  const ageMs = clock.now() - holder.createdAt;
  if (ageMs >= keyLifeMs && job === undefined) {
    await releaseIdempotencyKey(db, { projectId, key, id: holder.id });
    return undefined;
  }
  if (holder.outcome === "running" && ageMs > runningMaxMs) {
    await doubtRunningCall(db, { projectId, id: holder.id, message: nodeLost });
    return undefined;
  }
  if (!context.ledger.isSameCall(entry, holder.argumentsDigest)) throw idempotencyKeyReused(key);
  if (holder.outcome === "running") throw callInProgress(key);
  return { callId: holder.id, result: replayed(context, entry, holder) };
}

function replayed({ ledger }: KeyContext, { caller }: LedgerEntry, { id, replay }: KeyHolder): CallResult {
  // Only a call that lost its node ends without an answer to repeat.
  if (replay === undefined) return resultOf({ outcome: "outcome_unknown", message: nodeLost });
  const { resultJson, ...part } = ledger.openReplay(id, caller.projectId, replay);
  return resultOf({ ...part, value: resultJson === "" ? undefined : parseExactJson(resultJson) });
}
