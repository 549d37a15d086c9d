import { type AccountId, type Clock, createBatcher, type Id, type ProjectId, parseExactJson } from "@svc/core";
import { doubtRunningToolCall } from "@svc/db/calls/doubt-running";
import {
  beginKeyedToolCalls,
  findToolCallKeyHolders,
  releaseToolCallKey,
  type ToolCallKeyHolder,
} from "@svc/db/calls/keys";
import type { CallRecord } from "@svc/db/calls/repo";
import type { Database } from "@svc/db/connect";
import { type CallResult, resultOf } from "../../outcome.ts";
import type { Ledger, LedgerEntry } from "../record/ledger.ts";

/** Idempotency keys in the database. Calls that happen at the same time share a round trip to the database. */
type KeyStore = {
  find(projectId: ProjectId, key: string): Promise<ToolCallKeyHolder | undefined>;
  /** Commits a call with its key. Returns false and writes nothing if the key is taken. */
  take(call: CallRecord & { idempotencyKey: string }): Promise<boolean>;
};

const bounds = { sizeMax: 200, concurrency: 2, besideMin: 32, linger: { ms: 1, fromSize: 16 } };

/** Creates the functions that find and store calls by idempotency key in a database. */
export function createKeyStore(db: Database): KeyStore {
  const finding = createBatcher<{ projectId: ProjectId; key: string }, ToolCallKeyHolder | undefined>({
    ...bounds,
    run: (keys) => findToolCallKeyHolders(db, keys),
  });
  const taking = createBatcher<CallRecord & { idempotencyKey: string }, boolean>({
    ...bounds,
    run: (calls) => beginKeyedToolCalls(db, calls),
    // If a statement fails, its rows are written one by one, so that one bad row does not fail the calls of other projects.
    splits: () => true,
  });
  return {
    find: (projectId, key) => finding.add({ projectId, key }),
    take: (call) => taking.add(call),
  };
}

/** Objects and settings that the code for idempotency keys needs to find earlier calls with the same key and to store new ones. */
export type KeyContext = {
  readonly db: Database;
  readonly keys: KeyStore;
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** Age at which svc assumes that the node of a running call has failed, in milliseconds. Default 2 minutes. A call takes at most 30 s. */
  readonly runningMaxMs?: number | undefined;
};

/**
 * Reason why an idempotency key cannot be used now. `in_progress`: the key's first call is still running. `key_reused`: the key was used
 * for another call.
 */
export type KeyRefusal = { readonly outcome: "in_progress" | "key_reused"; readonly idempotencyKey: string };

/** Outcome of the earlier call that used an idempotency key, or the reason why no call can be made with the key. */
export type EarlierOutcome =
  | {
      readonly outcome: "ended";
      readonly callId: Id<"call">;
      readonly result: CallResult;
      /** True if the sandbox answered the call that holds the key. */
      readonly isSandbox: boolean;
    }
  | KeyRefusal;

/**
 * Lifetime of a caller's idempotency key, milliseconds. The keys of a job's calls exist as long as the ledger (stored record of tool calls)
 * keeps the calls.
 */
export const keyLifeMs = 24 * 3_600_000;
const runningMaxDefaultMs = 120_000;

/** Message of a call whose end was never recorded, because the node that made the call failed. */
export const nodeLost = "the node that made the call ended before it recorded an outcome; it may have been executed";

/**
 * Returns the outcome of an earlier call with the same idempotency key as `entry`; undefined if there is none. `isSandbox`: true if the
 * sandbox would answer the call now, undefined if the call runs code of svc. A call that the sandbox answered and a call of the real app
 * are never the same call.
 */
export async function findEarlier(
  context: KeyContext,
  entry: LedgerEntry,
  isSandbox: boolean | undefined,
): Promise<EarlierOutcome | undefined> {
  const { idempotencyKey } = entry;
  if (idempotencyKey === undefined) return undefined;
  for (;;) {
    const holder = await findHolder(context, entry, idempotencyKey);
    if (holder === undefined) return undefined;
    const earlier = await answerEarlier(context, { entry, isSandbox }, idempotencyKey, holder);
    if (earlier !== undefined) return earlier;
  }
}

/**
 * Returns the call that holds the idempotency key of an entry in the ledger (record of tool calls). Returns undefined if no call holds the
 * key. Calls of jobs had a longer key in earlier versions (`formerKey`). For them, the function also searches for the longer key.
 */
async function findHolder({ keys }: Pick<KeyContext, "keys">, { caller, job }: LedgerEntry, key: string) {
  const formerKey = job?.formerKey;
  const names = formerKey === undefined ? [key] : [key, formerKey];
  const holders = await Promise.all(names.map((name) => keys.find(caller.projectId, name)));
  return holders.find((holder) => holder !== undefined);
}

/**
 * Commits that a call with an idempotency key is about to be sent. `isSandbox`: true if the sandbox answers the call.
 * `isCode`: true if the call runs code of svc, for example a skill. Returns undefined if svc may send the call, or if the call has no key.
 * If a different call has used the key in the meantime, returns the outcome of that call, in the form of `findEarlier`.
 */
export async function beginKeyed(
  context: KeyContext,
  entry: LedgerEntry,
  {
    accountId,
    isSandbox,
    isCode = false,
  }: { readonly accountId: AccountId | undefined; readonly isSandbox: boolean; readonly isCode?: boolean },
): Promise<EarlierOutcome | undefined> {
  const { idempotencyKey } = entry;
  if (idempotencyKey === undefined) return undefined;
  const row = { ...context.ledger.begun(entry, accountId, isSandbox), idempotencyKey };
  for (;;) {
    if (await context.keys.take(row)) return undefined;
    const earlier = await findEarlier(context, entry, isCode ? undefined : isSandbox);
    if (earlier !== undefined) return earlier;
  }
}

/**
 * Returns the outcome of the earlier call that used the same idempotency key. Returns undefined if the key was released or the earlier call
 * was marked as unknown. The caller must then look up the key once more.
 */
async function answerEarlier(
  context: KeyContext,
  { entry, isSandbox }: { readonly entry: LedgerEntry; readonly isSandbox: boolean | undefined },
  key: string,
  holder: ToolCallKeyHolder,
): Promise<EarlierOutcome | undefined> {
  const { db, clock, runningMaxMs = runningMaxDefaultMs } = context;
  const { projectId, job } = entry.caller;
  const ageMs = clock.now() - holder.createdAt;
  if (ageMs >= keyLifeMs && job === undefined) {
    await releaseToolCallKey(db, { projectId, key, id: holder.id });
    return undefined;
  }
  // Only one node runs a job at a time. So if a job repeats a call that is still recorded as running, the node that ran the job before has
  // failed. If the app takes idempotency keys, the repeat is safe and is made at once, even if that node is still sending the call.
  const isLost = job !== undefined && entry.takesAppKey === true;
  if (holder.outcome === "running" && (isLost || ageMs > runningMaxMs)) {
    await doubtRunningToolCall(db, { projectId, id: holder.id, message: nodeLost });
    return undefined;
  }
  // Code of svc, for example a skill, makes calls of its own, each of which has its own side.
  const isSameSide = isSandbox === undefined || holder.isSandbox === isSandbox;
  if (!isSameSide || !context.ledger.isSameCall(entry, holder.argumentsDigest))
    return { outcome: "key_reused", idempotencyKey: key };
  if (holder.outcome === "running") return { outcome: "in_progress", idempotencyKey: key };
  const result = replayed(context, entry, holder);
  return { outcome: "ended", callId: holder.id, result, isSandbox: holder.isSandbox };
}

function replayed(
  { ledger }: Pick<KeyContext, "ledger">,
  { caller }: LedgerEntry,
  holder: ToolCallKeyHolder,
): CallResult {
  const replay = ledger.openReplay(holder, caller.projectId);
  if (replay === undefined) return resultOf({ outcome: "outcome_unknown", message: nodeLost });
  const { resultJson, ...part } = replay;
  return resultOf({ ...part, value: resultJson === "" ? undefined : parseExactJson(resultJson) });
}
