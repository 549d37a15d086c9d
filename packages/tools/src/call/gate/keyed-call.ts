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

/** Idempotency keys in the store. Calls that come together share a round trip. */
type KeyStore = {
  find(projectId: ProjectId, key: string): Promise<ToolCallKeyHolder | undefined>;
  /** Commits a call with its key; false, and nothing written, when the key is held. */
  take(call: CallRecord & { idempotencyKey: string }): Promise<boolean>;
};

const bounds = { sizeMax: 200, concurrency: 2, besideMin: 32, linger: { ms: 1, fromSize: 16 } };

/** The keys of a database. */
export function createKeyStore(db: Database): KeyStore {
  const finding = createBatcher<{ projectId: ProjectId; key: string }, ToolCallKeyHolder | undefined>({
    ...bounds,
    run: (keys) => findToolCallKeyHolders(db, keys),
  });
  const taking = createBatcher<CallRecord & { idempotencyKey: string }, boolean>({
    ...bounds,
    run: (calls) => beginKeyedToolCalls(db, calls),
    // A bad row must not fail other tenants' calls.
    splits: () => true,
  });
  return {
    find: (projectId, key) => finding.add({ projectId, key }),
    take: (call) => taking.add(call),
  };
}

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

/** Why an idempotency key cannot be used now: its first call still runs, or it was used for something else. */
export type KeyRefusal = { readonly outcome: "in_progress" | "key_reused"; readonly idempotencyKey: string };

/** What the call that holds an idempotency key was answered, or why a call cannot be made under the key. */
export type EarlierOutcome =
  | { readonly outcome: "ended"; readonly callId: Id<"call">; readonly result: CallResult }
  | KeyRefusal;

/** How long an idempotency key of a caller binds. Those of a job's calls bind for as long as the ledger keeps them. */
export const keyLifeMs = 24 * 3_600_000;
const runningMaxDefaultMs = 120_000;

/** Why a call without a recorded end is in doubt. */
export const nodeLost = "the node that made the call ended before it recorded an outcome; it may have been executed";

/** What is known of the call that holds the entry's idempotency key; undefined when none does. */
export async function findEarlier(context: KeyContext, entry: LedgerEntry): Promise<EarlierOutcome | undefined> {
  const { idempotencyKey } = entry;
  if (idempotencyKey === undefined) return undefined;
  for (;;) {
    const holder = await findHolder(context, entry, idempotencyKey);
    if (holder === undefined) return undefined;
    const earlier = await answerEarlier(context, entry, idempotencyKey, holder);
    if (earlier !== undefined) return earlier;
  }
}

/** The call that holds the entry's key, by whichever of its names. */
async function findHolder({ keys }: KeyContext, { caller, job }: LedgerEntry, key: string) {
  const formerKey = job?.formerKey;
  const names = formerKey === undefined ? [key] : [key, formerKey];
  const holders = await Promise.all(names.map((name) => keys.find(caller.projectId, name)));
  return holders.find((holder) => holder !== undefined);
}

/**
 * Commits that a call under its idempotency key is about to be sent; undefined for an entry without one. Answers as `findEarlier`
 * when another call took the key meanwhile.
 */
export async function beginKeyed(
  context: KeyContext,
  entry: LedgerEntry,
  accountId: AccountId | undefined,
): Promise<EarlierOutcome | undefined> {
  const { idempotencyKey } = entry;
  if (idempotencyKey === undefined) return undefined;
  const row = { ...context.ledger.begun(entry, accountId, context.isSandbox), idempotencyKey };
  for (;;) {
    if (await context.keys.take(row)) return undefined;
    const earlier = await findEarlier(context, entry);
    if (earlier !== undefined) return earlier;
  }
}

/** What is known of the call that holds the key; undefined when who holds it must be looked at again. */
async function answerEarlier(
  context: KeyContext,
  entry: LedgerEntry,
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
  // A job has one driver: who asks for a call that runs has taken over from one that was lost. That one may still send it, and where the
  // app takes a key a repeat does no harm: nobody waits for it.
  const isLost = job !== undefined && entry.takesAppKey === true;
  if (holder.outcome === "running" && (isLost || ageMs > runningMaxMs)) {
    await doubtRunningToolCall(db, { projectId, id: holder.id, message: nodeLost });
    return undefined;
  }
  if (!context.ledger.isSameCall(entry, holder.argumentsDigest)) return { outcome: "key_reused", idempotencyKey: key };
  if (holder.outcome === "running") return { outcome: "in_progress", idempotencyKey: key };
  return { outcome: "ended", callId: holder.id, result: replayed(context, entry, holder) };
}

function replayed({ ledger }: KeyContext, { caller }: LedgerEntry, { id, replay }: ToolCallKeyHolder): CallResult {
  // Only a call that lost its node ends without an answer to repeat.
  if (replay === null) return resultOf({ outcome: "outcome_unknown", message: nodeLost });
  const { resultJson, ...part } = ledger.openReplay(id, caller.projectId, replay);
  return resultOf({ ...part, value: resultJson === "" ? undefined : parseExactJson(resultJson) });
}
