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

/** A call as the ledger knows it before its outcome. */
export type LedgerEntry = {
  readonly id: Id<"call">;
  readonly caller: Caller;
  readonly action: Pick<ToolDefinition, "inputSchema" | "outputSchema"> | undefined;
  readonly toolSlug: string;
  readonly accessClass: StoredAccessClass;
  readonly entityId: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Of tool, account and arguments, as `digestCall` makes it; the ledger keeps it protected. */
  readonly callDigest: Buffer;
  readonly idempotencyKey: string | undefined;
  readonly createdAt: number;
  /** Whether the app does a call once that is repeated under the same key of its own. */
  readonly takesAppKey?: boolean | undefined;
  readonly job?: CallRequest["job"];
};

/** What is known once a call has ended. */
export type LedgerEnd = {
  readonly result: CallResult;
  readonly accountId: AccountId | undefined;
  readonly isSandbox: boolean;
  readonly providerMs: number;
  /** Takes the credential out of what is kept, should the app have quoted it. */
  readonly redact?: Redactor | undefined;
};

/** What a repeat of a keyed call is answered with. */
export type Replay = {
  readonly outcome: CallOutcome;
  readonly resultJson: string;
  readonly message: string;
  readonly providerStatus: number;
  readonly warnings: readonly string[];
};

/** The first 64 KiB of a result are kept. */
const resultBytesMax = 65_536;

/** Under load a row in a batch of 200 costs both sides half of what it costs in one of 15. */
const linger = { ms: 1, fromSize: 16 };

/** Writes calls to the ledger, many in one statement under load. */
export type Ledger = {
  /** The row of a call that is about to be sent. */
  begun(entry: LedgerEntry, accountId: AccountId | undefined, isSandbox: boolean): CallRecord;
  /** Commits that a call is about to be sent. */
  begin(entry: LedgerEntry, accountId: AccountId | undefined, isSandbox: boolean): Promise<void>;
  /**
   * Commits a call's outcome, whether or not it was begun, or hands it to who takes it. `bindsKey`: repeats of its idempotency key
   * answer this.
   */
  end(entry: LedgerEntry, end: LedgerEnd, options: { bindsKey: boolean }): Promise<void>;
  /**
   * The row of a call that has ended, without an idempotency key, for whoever commits it together with what follows from it. `begun` is
   * its row as it was begun, where it was. The observer hears of the call.
   */
  ended(entry: LedgerEntry, end: LedgerEnd, begun?: CallRecord): CallRecord;
  /** The row of a call that has ended, as repeats of its idempotency key are answered by it. */
  bound(entry: LedgerEntry, ended: CallRecord, result: CallResult): CallRecord;
  /** Commits a row of `ended` or `bound`. */
  put(ended: CallRecord): Promise<void>;
  /** Whether a digest of the ledger is that of this call. */
  isSameCall(entry: LedgerEntry, digest: Buffer): boolean;
  openReplay(id: Id<"call">, projectId: ProjectId, sealed: Uint8Array): Replay;
  openText(
    id: Id<"call">,
    projectId: ProjectId,
    column: "arguments" | "result" | "message",
    sealed: Uint8Array,
  ): string;
  /** Resolves once everything is written. */
  drain(): Promise<void>;
};

/** What the ledger works with; `observer` hears of each call that ends. */
export type LedgerOptions = { db: Database; clock: Clock; sealer: Sealer; observer?: CallObserver };

/** The ledger over a database. */
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
    // A row that the store refuses fails alone: others' calls were executed too.
    splits: (error) => !isUnavailable(error),
  });
  const digests = createDigestKeys(sealer);
  // What is the same at the beginning of a call and at its end is sealed once. A read has no beginning, and is not kept: what a
  // collector finds in a weak map is dear.
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

/** The row of a call that is under way. */
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

/** What the end of a call changes of its row. */
function endOf(sealer: Sealer, entry: LedgerEntry, { result, accountId, isSandbox, providerMs, redact }: LedgerEnd) {
  // What a job's calls carry may be rows, which stay inside: the job itself reads its calls' answers by their keys.
  const isInside = entry.caller.job !== undefined;
  const shown = entry.action === undefined ? result.value : mask(entry.action.outputSchema, result.value);
  const message = messageText(redact === undefined ? result.message : redact(result.message));
  // Who was answered it had no secret in it any more.
  const kept = result.outcome === "ok" && !isInside ? fitBytes(shown, resultBytesMax) : undefined;
  return {
    accountId,
    outcome: result.outcome,
    message: isInside ? plainMessage(result) : "",
    // It may quote an argument, or what the app says of one.
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

/** In place of the arguments of a job's call, which stay inside: to seal an empty object for each took as long as to write its row. */
const none = Buffer.alloc(0);

/** Sensitive values never reach the ledger, nor what stands under names that the tool does not know. Of arguments that no schema was found for, nothing does. */
function argumentsText({ action, args }: LedgerEntry): string {
  return action === undefined ? "{}" : fitBytes(maskArguments(action.inputSchema, args), resultBytesMax).json;
}

/** An outcome without the app's words and without what was sent. */
function plainMessage({ outcome, providerStatus }: CallResult): string {
  if (outcome === "ok") return "";
  return providerStatus === 0 ? outcome : `${outcome}: the app answered ${providerStatus}`;
}

const messageMax = 4_000;

/** The store takes no U+0000, and a message may quote anything. */
function messageText(text: string): string {
  return singleLine(text.slice(0, messageMax)).toWellFormed();
}

function replayOf({ outcome, value, message, providerStatus, warnings }: CallResult): Replay {
  const kept = outcome === "ok" ? fitBytes(value, resultBytesMax) : { json: "", warning: undefined };
  const all = kept.warning === undefined ? warnings : [...warnings, kept.warning];
  return { outcome, resultJson: kept.json, message, providerStatus, warnings: all };
}
