import type { CallRecord } from "@svc/db";
import type { CallResult } from "../outcome.ts";
import { bindCall } from "./bind.ts";
import type { CallRequest } from "./call-request.ts";
import { type Called, called } from "./called.ts";
import { type ExecuteContext, type ExecuteOptions, executeCall } from "./execute.ts";
import { type FindContext, findTool } from "./find-tool.ts";
import { type HookContext, hooksOf } from "./hooked-call.ts";
import { findEarlier, type KeyContext } from "./keyed-call.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import { enter, type LimitContext, limited } from "./limited-call.ts";
import { planCall } from "./plan-call.ts";
import { type PrepareContext, prepareCall } from "./prepare.ts";
import type { PreparedCall } from "./prepared-call.ts";
import { isNeverRepeated } from "./unsent-call.ts";

/** The end of a call that was executed, for its caller to commit. */
export type UnrecordedEnd = {
  /**
   * Its row in the ledger as it is to be. No answer is kept for its idempotency key: with it is committed what the caller made of the
   * answer, and nobody asks again.
   */
  readonly record: CallRecord;
  /** Whether its row is there from its beginning, and lacks its end alone. */
  readonly wasBegun: boolean;
  /**
   * Commits it alone, with its idempotency key, for a caller that came to no commit. Never rejects: who hears of calls that are not
   * recorded is told.
   */
  write(): Promise<void>;
};

/** What came of a ready call. `end` is what its caller commits; undefined where there is nothing to commit any more. */
export type Sent = { readonly called: Called; readonly end: UnrecordedEnd | undefined };

/** A call that is ready to be sent. `send` or `cancel` is to be called, once. */
export type ReadyCall = {
  /**
   * What its caller commits before it is sent: else nobody knows after a crash that it may have been executed. One that finds the key
   * held is not to be sent. Undefined for a read.
   */
  readonly begun: CallRecord | undefined;
  send(): Promise<Sent>;
  cancel(): void;
};

/** What readying calls works with. */
export type ReadyContext = FindContext &
  PrepareContext &
  KeyContext &
  HookContext &
  LimitContext &
  Omit<ExecuteContext, "ledger">;

/** Readies what `call` would send; undefined where it ends before, or is to be made by that. Nothing is recorded. */
export async function readyCall(context: ReadyContext, given: CallRequest): Promise<ReadyCall | undefined> {
  const asked = bindCall(given);
  // `call` says why.
  if ("refusal" in asked) return undefined;
  const found = await findTool(context, asked);
  if ("outcome" in found || found.tool.kind === "code" || asked.isDryRun) return undefined;
  const { request, entry, plan } = planCall(context, asked, found);
  if (request.isFirst !== true && (await findEarlier(context, entry)) !== undefined) return undefined;
  const prepared = await prepareCall(context, plan);
  if (!("action" in prepared)) return undefined;
  // `call` records that it is in doubt.
  if (request.restoredFrom !== undefined && isNeverRepeated(prepared)) return undefined;
  // What hooks are asked about is committed before it is sent, by `call`.
  if ((await hooksOf(context, { entry, plan, prepared })) !== undefined) return undefined;
  const entered = await enter(context, entry, prepared, request);
  if (entered?.kind === "full") {
    return { begun: undefined, cancel() {}, send: async () => ({ called: limited(entered), end: undefined }) };
  }
  return readied(context, { entry, prepared, entered }, request);
}

type Entered = Exclude<Awaited<ReturnType<typeof enter>>, { kind: "full" }>;

/** A call that has its turn, which ends with it. */
function readied(
  context: ReadyContext,
  { entry, prepared, entered }: { entry: LedgerEntry; prepared: PreparedCall; entered: Entered },
  { appKey, timeoutMs }: CallRequest,
): ReadyCall {
  const { isSandbox } = prepared.way;
  const isRead = prepared.action.class === "read";
  const begun = isRead ? undefined : context.ledger.begun(entry, prepared.account?.id, isSandbox);
  const options = { keepsAppKey: appKey !== undefined, timeoutMs, mayRepeat: entered?.again };
  return {
    begun,
    cancel: () => entered?.leave(),
    async send() {
      try {
        const { result, end } = await executeReady(context, { ...options, entry, prepared, begun });
        return { called: called({ callId: entry.id, result, isSandbox, isReplay: false }), end };
      } finally {
        entered?.leave();
      }
    },
  };
}

/** What executing a ready call works with. */
type ExecuteReadyContext = Omit<ExecuteContext, "ledger"> & {
  readonly ledger: Pick<Ledger, "ended" | "bound" | "put">;
};

/** A call that may be sent, and its row as it was committed; undefined for a read, which is not begun. */
type ReadyExecution = ExecuteOptions & {
  readonly entry: LedgerEntry;
  readonly prepared: PreparedCall;
  readonly begun: CallRecord | undefined;
};

/**
 * Sends a call whose caller commits its end. The end of one that did not go well is committed here: what follows from that may be
 * another attempt, after a wait, and a crash in it must not leave the outcome in doubt.
 */
async function executeReady(
  context: ExecuteReadyContext,
  { entry, prepared, begun, ...options }: ReadyExecution,
): Promise<{ readonly result: CallResult; readonly end: UnrecordedEnd | undefined }> {
  const { ledger, onUnrecorded } = context;
  const left: CallRecord[] = [];
  const end: Ledger["end"] = async (_entry, told, { bindsKey }) => {
    const record = ledger.ended(entry, told, begun);
    if (told.result.outcome === "ok") left.push(record);
    else await ledger.put(bindsKey ? ledger.bound(entry, record, told.result) : record);
  };
  const result = await executeCall({ ...context, ledger: { end } }, entry, prepared, options);
  const [record] = left;
  if (record === undefined) return { result, end: undefined };
  const write = () =>
    ledger.put(ledger.bound(entry, record, result)).catch((error: unknown) => onUnrecorded(entry.id, error));
  return { result, end: { record, wasBegun: begun !== undefined, write } };
}
