import type { ToolDefinition } from "@svc/catalog";
import {
  type AccountId,
  type Clock,
  createBatcher,
  type Id,
  type ProjectId,
  rowErrorText,
  type Sealer,
  singleLine,
} from "@svc/core";
import type { ToolCallKeyHolder } from "@svc/db/calls/keys";
import type { ToolCallSummary } from "@svc/db/calls/list-page";
import { type CallRecord, putToolCalls } from "@svc/db/calls/repo";
import type { Database } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import type { StoredAccessClass } from "@svc/db/schema/words";
import type { CallOutcome, CallResult } from "../../outcome.ts";
import type { Caller, CallRequest } from "../call-request.ts";
import { createDigestKeys, type DigestKeys } from "../gate/idempotency.ts";
import { mask, maskArguments, masksNothing } from "../redact/mask.ts";
import type { Redactor } from "../redact/redact.ts";
import type { CallObservation, CallObserver } from "./observer.ts";
import { fitBytes } from "./shape.ts";

/** A call in the ledger (record of tool calls), as far as it is known before its outcome. */
export type LedgerEntry = {
  readonly id: Id<"call">;
  readonly caller: Caller;
  readonly action: Pick<ToolDefinition, "inputSchema" | "outputSchema"> | undefined;
  readonly toolSlug: string;
  readonly accessClass: StoredAccessClass;
  readonly entityId: string;
  readonly args: Readonly<Record<string, unknown>>;
  /**
   * Digest of the tool, the account and the arguments, as `digestCall` makes it. The ledger (stored record of tool calls) stores only an
   * HMAC of this digest.
   */
  readonly callDigest: Buffer;
  readonly idempotencyKey: string | undefined;
  readonly createdAt: number;
  /**
   * True if the app accepts an idempotency key for this tool, and executes the call only once even if svc sends it several times with the
   * same key. False or undefined if each request may be executed.
   */
  readonly takesAppKey?: boolean | undefined;
  readonly job?: CallRequest["job"];
  /** True if the sandbox would answer the call. False or undefined for a call of the real app, and for code of svc. */
  readonly isPlayed?: boolean | undefined;
};

/** Data about a call that is known when the call has ended. */
export type LedgerEnd = {
  readonly result: CallResult;
  readonly accountId: AccountId | undefined;
  readonly isSandbox: boolean;
  readonly providerMs: number;
  /** Removes the credential from texts before they are stored, because the app may quote the credential. */
  readonly redact?: Redactor | undefined;
};

/** Stored answer of a call. Repeats with the same idempotency key get this answer. */
export type Replay = {
  readonly outcome: CallOutcome;
  readonly resultJson: string;
  readonly message: string;
  readonly providerStatus: number;
  readonly warnings: readonly string[];
};

/** Maximum number of bytes of a result that are stored. A longer result is cut. */
const resultBytesMax = 65_536;

/**
 * Delay that makes batches larger under load. If the last batch had at least `fromSize` rows, the next batch waits `ms` milliseconds for
 * more rows. A row in a batch of 200 costs node and database half as much as in a batch of 15.
 */
const linger = { ms: 1, fromSize: 16 };

/** Writes calls to the ledger (record of all tool calls), many per statement under load. */
export type Ledger = {
  /** Returns the row to store in the ledger (the table of calls) for a call that is about to be sent. */
  begun(entry: LedgerEntry, accountId: AccountId | undefined, isSandbox: boolean): CallRecord;
  /**
   * Stores that a tool call is about to be sent, and resolves when this is committed. So a call that was sent is known even if the node
   * dies.
   */
  begin(entry: LedgerEntry, accountId: AccountId | undefined, isSandbox: boolean): Promise<void>;
  /**
   * Commits the outcome of a call. If the call has a function `takeRecord`, the row for the ledger (record of calls) is passed to that
   * function instead. `bindsKey`: true if a later call with the same idempotency key must get this answer again.
   */
  end(entry: LedgerEntry, end: LedgerEnd, options: { bindsKey: boolean }): Promise<void>;
  /**
   * Returns the ledger row (the record) of an ended call, and reports the call to metrics. The row does not contain the answer that a
   * repeated call would get. The caller commits the row together with its own changes. `begun`: the row that was stored at the start of the
   * call, if there is one.
   */
  ended(entry: LedgerEntry, end: LedgerEnd, begun?: CallRecord): CallRecord;
  /**
   * Returns the ledger row (the record) of an ended call, with the answer to store. A later call with the same idempotency key gets this
   * stored answer.
   */
  bound(entry: LedgerEntry, ended: CallRecord, result: CallResult): CallRecord;
  /**
   * Commits a row of the ledger (the stored record of every tool call). The row must be a result of this object's method `ended` or
   * `bound`.
   */
  put(ended: CallRecord): Promise<void>;
  /** True if a stored digest of a tool call matches this call. False means that one idempotency key was used for two different calls. */
  isSameCall(entry: LedgerEntry, digest: Buffer): boolean;
  /** Returns the stored answer of a call. Undefined if the call has none, because its node failed before it recorded the outcome. */
  openReplay(
    call: Pick<ToolCallKeyHolder, "id" | "replay" | "result" | "providerStatus">,
    of: ProjectId,
  ): Replay | undefined;
  openText(
    id: Id<"call">,
    projectId: ProjectId,
    column: "arguments" | "result" | "message",
    sealed: Uint8Array,
  ): string;
  /** Returns the message of a stored call as plain text. Versions before 0.2, and calls whose message quotes nothing, stored it as text. */
  openMessage(call: Pick<ToolCallSummary, "id" | "projectId" | "message" | "sealedMessage">): string;
  /** Resolves when every ledger row that was passed to this object so far is written to the database. */
  drain(): Promise<void>;
};

/** Dependencies of the ledger (the stored record of every tool call). `observer`: is notified of each call that ends. */
export type LedgerOptions = { db: Database; clock: Clock; sealer: Sealer; observer?: CallObserver };

/** Creates the ledger (stored record of tool calls) of a database. */
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
    // If the database refuses a row, only that row fails. The other rows of the batch are written, because their calls were executed as
    // well.
    splits: (error) => !isUnavailable(error),
  });
  const digests = createDigestKeys(sealer);
  // Rows of running calls, so that fields that do not change until the end of the call are encrypted only once. Reads are not in this map:
  // they have no row at the start, and weak maps slow down the garbage collector.
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
    const message = shownMessage(entry, end);
    observer?.ended(observationOf(entry, end, durationMs), message);
    const record = before ?? records.get(entry) ?? recordOf(sealer, digests, entry);
    return { ...record, ...endOf(sealer, entry, end, message), durationMs, idempotencyKey: undefined };
  };
  const bound: Ledger["bound"] = (entry, record, result) => {
    const { idempotencyKey } = entry;
    if (idempotencyKey === undefined) return record;
    const replay = isOwnResult(entry, record, result)
      ? none
      : seal(sealer, entry, "replay", JSON.stringify(replayOf(result)));
    return { ...record, idempotencyKey, replay };
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
    openReplay({ id, replay, result, providerStatus }, projectId) {
      if (replay === null) return undefined;
      if (replay.byteLength > 0) return JSON.parse(openColumn(projectId, id, "replay", replay)) as Replay;
      const resultJson = result === null ? "" : openColumn(projectId, id, "result", result);
      return { outcome: "ok", resultJson, message: "", providerStatus, warnings: [] };
    },
    openText: (id, projectId, column, sealed) =>
      column === "arguments" && sealed.byteLength === 0 ? "{}" : openColumn(projectId, id, column, sealed),
    openMessage: ({ id, projectId, message, sealedMessage }) =>
      sealedMessage === null ? message : openColumn(projectId, id, "message", sealedMessage),
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

/** Returns the ledger row that is stored for a call when the call begins. */
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

/** Returns the values that are written to a call's row when the call ends. */
function endOf(
  sealer: Sealer,
  entry: LedgerEntry,
  { result, accountId, isSandbox, providerMs }: LedgerEnd,
  message: string,
) {
  // The answer of a job's call is not stored here, because it may contain rows. The job stores it itself and finds it by the idempotency
  // key.
  const isInside = entry.caller.job !== undefined;
  const shown = entry.action === undefined ? result.value : mask(entry.action.outputSchema, result.value);
  // `shown` is the answer that the caller gets. Secrets have already been removed from it.
  const kept = result.outcome === "ok" && !isInside ? fitBytes(shown, resultBytesMax) : undefined;
  return {
    accountId,
    outcome: result.outcome,
    message: isInside ? plainMessage(result) : "",
    // The message is stored encrypted, because it may quote an argument, or what the app wrote about an argument.
    sealedMessage: message === "" ? undefined : seal(sealer, entry, "message", message),
    providerStatus: result.providerStatus,
    result: kept && seal(sealer, entry, "result", kept.json),
    isTruncated: kept?.warning !== undefined,
    isSandbox,
    providerMs,
  };
}

/**
 * Returns the message of a call that people may see. A job's rows stay in the job, so the message of its call has the app's words without
 * the values of rows.
 */
function shownMessage({ caller, args }: LedgerEntry, { result, redact }: LedgerEnd): string {
  if (result.message === "") return "";
  const message = messageText(redact === undefined ? result.message : redact(result.message));
  return caller.job === undefined ? message : (rowErrorText(message, args) ?? "");
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

/**
 * Empty value, stored for the arguments of a job's call, and for an answer that the row already has as its result. Encrypting such a value
 * for each call would take as long as writing the row.
 */
const none = Buffer.alloc(0);

/**
 * Returns the arguments to store, without sensitive values and without values under unknown names. Returns an empty object if no schema was
 * found for the arguments.
 */
function argumentsText({ action, args }: LedgerEntry): string {
  return action === undefined ? "{}" : fitBytes(maskArguments(action.inputSchema, args), resultBytesMax).json;
}

/** Returns a message for an outcome, in svc's own words. The message contains neither the app's text nor values that were sent. */
function plainMessage({ outcome, providerStatus }: CallResult): string {
  if (outcome === "ok") return "";
  return providerStatus === 0 ? outcome : `${outcome}: the app answered ${providerStatus}`;
}

const messageMax = 4_000;

/** Returns a message without U+0000. The database does not accept U+0000, and a message may quote any text. */
function messageText(text: string): string {
  return singleLine(text.slice(0, messageMax)).toWellFormed();
}

/** True if the sealed result of a call's row is the whole answer that a repeated call gets. It is then not sealed a second time. */
function isOwnResult(
  { action }: LedgerEntry,
  record: CallRecord,
  { outcome, message, warnings }: Pick<CallResult, "outcome" | "message" | "warnings">,
): boolean {
  const isWhole = record.result !== undefined && !record.isTruncated && warnings.length === 0;
  return outcome === "ok" && message === "" && isWhole && (action === undefined || masksNothing(action.outputSchema));
}

function replayOf({ outcome, value, message, providerStatus, warnings }: CallResult): Replay {
  const kept = outcome === "ok" ? fitBytes(value, resultBytesMax) : { json: "", warning: undefined };
  const all = kept.warning === undefined ? warnings : [...warnings, kept.warning];
  return { outcome, resultJson: kept.json, message, providerStatus, warnings: all };
}
