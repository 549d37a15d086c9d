import type { ToolDefinition } from "@svc/catalog";
import { type AccountId, type Clock, createBatcher, type Id, type ProjectId, type Sealer, singleLine } from "@svc/core";
import { type CallRecord, putToolCalls } from "@svc/db/calls/repo";
import type { Database } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import type { StoredAccessClass } from "@svc/db/schema/words";
import type { CallOutcome, CallResult } from "../../outcome.ts";
import type { Caller, CallRequest } from "../call-request.ts";
import { createDigestKeys, type DigestKeys } from "../gate/idempotency.ts";
import { mask, maskArguments } from "../redact/mask.ts";
import type { Redactor } from "../redact/redact.ts";
import type { CallObservation, CallObserver } from "./observer.ts";
import { fitBytes } from "./shape.ts";

/** A call in the ledger, before its outcome. */
export type LedgerEntry = {
  readonly id: Id<"call">;
  readonly caller: Caller;
  readonly action: Pick<ToolDefinition, "inputSchema" | "outputSchema"> | undefined;
  readonly toolSlug: string;
  readonly accessClass: StoredAccessClass;
  readonly entityId: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Digest of tool, account and arguments from `digestCall`. The ledger stores it protected. */
  readonly callDigest: Buffer;
  readonly idempotencyKey: string | undefined;
  readonly createdAt: number;
  /** True if the app executes a call once when it is repeated with the same app key. */
  readonly takesAppKey?: boolean | undefined;
  readonly job?: CallRequest["job"];
};

/** Data known when a call has ended. */
export type LedgerEnd = {
  readonly result: CallResult;
  readonly accountId: AccountId | undefined;
  readonly isSandbox: boolean;
  readonly providerMs: number;
  /** Removes the credential from stored texts, because the app may quote it. */
  readonly redact?: Redactor | undefined;
};

/** Answer for repeats of a call with a key. */
export type Replay = {
  readonly outcome: CallOutcome;
  readonly resultJson: string;
  readonly message: string;
  readonly providerStatus: number;
  readonly warnings: readonly string[];
};

/** Maximum stored size of a result: its first 64 KiB. */
const resultBytesMax = 65_536;

/** Under load, a row in a batch of 200 costs both sides half as much as in a batch of 15. */
const linger = { ms: 1, fromSize: 16 };

/** Writes calls to the ledger, many per statement under load. */
export type Ledger = {
  /** Returns the row of a call that is about to be sent. */
  begun(entry: LedgerEntry, accountId: AccountId | undefined, isSandbox: boolean): CallRecord;
  /** Commits that a call is about to be sent. */
  begin(entry: LedgerEntry, accountId: AccountId | undefined, isSandbox: boolean): Promise<void>;
  /**
   * Commits the outcome of a call, with or without a start row, or passes it to the receiver of the record. `bindsKey`: repeats of its
   * idempotency key get this answer.
   */
  end(entry: LedgerEntry, end: LedgerEnd, options: { bindsKey: boolean }): Promise<void>;
  /**
   * Returns the row of an ended call, without an idempotency key, for a caller that commits it with its own changes. `begun`: its start
   * row, if any. Notifies the observer of the call.
   */
  ended(entry: LedgerEntry, end: LedgerEnd, begun?: CallRecord): CallRecord;
  /** Returns the row of an ended call, with the answer for repeats of its idempotency key. */
  bound(entry: LedgerEntry, ended: CallRecord, result: CallResult): CallRecord;
  /** Commits a row from `ended` or `bound`. */
  put(ended: CallRecord): Promise<void>;
  /** True if a digest from the ledger belongs to this call. */
  isSameCall(entry: LedgerEntry, digest: Buffer): boolean;
  openReplay(id: Id<"call">, projectId: ProjectId, sealed: Uint8Array): Replay;
  openText(
    id: Id<"call">,
    projectId: ProjectId,
    column: "arguments" | "result" | "message",
    sealed: Uint8Array,
  ): string;
  /** Resolves when everything is written. */
  drain(): Promise<void>;
};

/** Dependencies of the ledger. `observer` is notified of each call that ends. */
export type LedgerOptions = { db: Database; clock: Clock; sealer: Sealer; observer?: CallObserver };

/** Creates the ledger of a database. */
export function createLedger({ db, clock, sealer, observer }: LedgerOptions): Ledger {
  const batcher = createBatcher<CallRecord, undefined>({
    run: async (records) => {
      await putToolCalls(db, records);
      return records.map(() => undefined);
    },
    sizeMax: 200,
    concurrency: 2,
    besideMin: 32,
    linger,
    // A row that the database refuses fails alone, because the other calls were executed too.
    splits: (error) => !isUnavailable(error),
  });
  const digests = createDigestKeys(sealer);
  // Parts that are equal at the start and the end of a call are sealed once. A read has no start row and is not cached, because weak maps
  // are expensive for the garbage collector.
  const records = new WeakMap<LedgerEntry, CallRecord>();
  const begun: Ledger["begun"] = (entry, accountId, isSandbox) => {
    const record = recordOf(sealer, digests, entry);
    records.set(entry, record);
    return { ...record, accountId, isSandbox };
  };
  const openColumn = (projectId: ProjectId, id: Id<"call">, column: Column, sealed: Uint8Array) =>
    sealer.open(sealed, contextOf(projectId, id, column)).toString();
  const ended: Ledger["ended"] = (entry, end, before) => {
    const durationMs = Math.max(0, clock.now() - entry.createdAt);
    observer?.ended(observationOf(entry, end, durationMs));
    const record = before ?? records.get(entry) ?? recordOf(sealer, digests, entry);
    return { ...record, ...endOf(sealer, entry, end), durationMs, idempotencyKey: undefined };
  };
  const bound: Ledger["bound"] = (entry, record, result) => {
    const { idempotencyKey } = entry;
    if (idempotencyKey === undefined) return record;
    return { ...record, idempotencyKey, replay: seal(sealer, entry, "replay", JSON.stringify(replayOf(result))) };
  };
  return {
    begun,
    async begin(entry, accountId, isSandbox) {
      await batcher.add(begun(entry, accountId, isSandbox));
    },
    async end(entry, end, { bindsKey }) {
      const record = ended(entry, end);
      const row = bindsKey ? bound(entry, record, end.result) : record;
      const takeRecord = entry.job?.takeRecord;
      if (takeRecord === undefined) await batcher.add(row);
      else takeRecord(row);
    },
    ended,
    bound,
    async put(record) {
      await batcher.add(record);
    },
    isSameCall: ({ caller, callDigest }, digest) => digests.isOf(caller.projectId, callDigest, digest),
    openReplay: (id, projectId, sealed) => JSON.parse(openColumn(projectId, id, "replay", sealed)) as Replay,
    openText: (id, projectId, column, sealed) =>
      column === "arguments" && sealed.byteLength === 0 ? "{}" : openColumn(projectId, id, column, sealed),
    drain: () => batcher.idle(),
  };
}

type Column = "arguments" | "result" | "message" | "replay";

function contextOf(projectId: ProjectId, id: Id<"call">, column: Column): string {
  return `${projectId}/tool_calls/${id}/${column}`;
}

function seal(sealer: Sealer, { id, caller }: LedgerEntry, column: Column, text: string): Buffer {
  return sealer.seal(Buffer.from(text), contextOf(caller.projectId, id, column));
}

/** Returns the row of a running call. */
function recordOf(sealer: Sealer, digests: DigestKeys, entry: LedgerEntry): CallRecord {
  const { id, caller, toolSlug, accessClass, entityId, callDigest, idempotencyKey, createdAt } = entry;
  return {
    id,
    projectId: caller.projectId,
    toolSlug,
    accessClass,
    entityId,
    accountId: undefined,
    keyId: caller.keyId,
    jobId: caller.job?.id,
    stepId: caller.job?.stepId ?? "",
    outcome: "running",
    message: "",
    sealedMessage: undefined,
    providerStatus: 0,
    argumentsDigest: digests.protect(caller.projectId, callDigest),
    arguments: caller.job === undefined ? seal(sealer, entry, "arguments", argumentsText(entry)) : none,
    result: undefined,
    isTruncated: false,
    isSandbox: false,
    idempotencyKey,
    replay: undefined,
    createdAt,
    durationMs: 0,
    providerMs: 0,
  };
}

/** Returns the changes of a row at the end of the call. */
function endOf(sealer: Sealer, entry: LedgerEntry, { result, accountId, isSandbox, providerMs, redact }: LedgerEnd) {
  // A job's calls may carry rows, which are not stored here. The job reads the answers of its calls by their keys.
  const isInside = entry.caller.job !== undefined;
  const shown = entry.action === undefined ? result.value : mask(entry.action.outputSchema, result.value);
  const message = messageText(redact === undefined ? result.message : redact(result.message));
  // The caller's answer no longer contains secrets.
  const kept = result.outcome === "ok" && !isInside ? fitBytes(shown, resultBytesMax) : undefined;
  return {
    accountId,
    outcome: result.outcome,
    message: isInside ? plainMessage(result) : "",
    // It may quote an argument, or the app's text about one.
    sealedMessage: isInside || message === "" ? undefined : seal(sealer, entry, "message", message),
    providerStatus: result.providerStatus,
    result: kept && seal(sealer, entry, "result", kept.json),
    isTruncated: kept?.warning !== undefined,
    isSandbox,
    providerMs,
  };
}

function observationOf(
  { id, caller, toolSlug, accessClass }: LedgerEntry,
  { result, accountId, isSandbox, providerMs }: LedgerEnd,
  durationMs: number,
): CallObservation {
  return {
    callId: id,
    projectId: caller.projectId,
    keyId: caller.keyId,
    jobId: caller.job?.id,
    stepId: caller.job?.stepId,
    toolSlug,
    accessClass,
    accountId,
    outcome: result.outcome,
    providerStatus: result.providerStatus,
    retryable: result.retryable,
    warnings: result.warnings.length,
    sandbox: isSandbox,
    durationMs,
    providerMs,
  };
}

/** Replaces the arguments of a job's call, which are not stored. Sealing an empty object for each took as long as writing its row. */
const none = Buffer.alloc(0);

/**
 * Returns the arguments to store, without sensitive values and without values under unknown names. If no schema was found for the
 * arguments, nothing is stored.
 */
function argumentsText({ action, args }: LedgerEntry): string {
  return action === undefined ? "{}" : fitBytes(maskArguments(action.inputSchema, args), resultBytesMax).json;
}

/** Returns an outcome without the app's text and without sent values. */
function plainMessage({ outcome, providerStatus }: CallResult): string {
  if (outcome === "ok") return "";
  return providerStatus === 0 ? outcome : `${outcome}: the app answered ${providerStatus}`;
}

const messageMax = 4_000;

/** The database does not accept U+0000, and a message may quote anything. */
function messageText(text: string): string {
  return singleLine(text.slice(0, messageMax)).toWellFormed();
}

function replayOf({ outcome, value, message, providerStatus, warnings }: CallResult): Replay {
  const kept = outcome === "ok" ? fitBytes(value, resultBytesMax) : { json: "", warning: undefined };
  const all = kept.warning === undefined ? warnings : [...warnings, kept.warning];
  return { outcome, resultJson: kept.json, message, providerStatus, warnings: all };
}
