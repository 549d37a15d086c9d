import type { CallRecord } from "@svc/db/calls/repo";
import type { CallResult } from "../outcome.ts";
import { type CallReply, replyOf } from "./call-reply.ts";
import type { CallRequest } from "./call-request.ts";
import { type GateContext, takeToTheGate } from "./gate/gate.ts";
import { enter, type LimitContext, limited } from "./gate/limited-call.ts";
import type { MadeCall, PreparedCall } from "./prepare/prepared-call.ts";
import type { Ledger, LedgerEntry } from "./record/ledger.ts";
import { type ExecuteContext, type ExecuteOptions, executeCall } from "./send/execute.ts";

/** Result of a tool call that was executed but is not stored yet. The code that made the call stores it together with its own changes. */
export type UnrecordedEnd = {
  /** Complete row of the call for the ledger (record of tool calls). The caller stores this row with its own changes. */
  readonly record: CallRecord;
  /**
   * True if the ledger (the record of every tool call) already has a row of this call, written at its start. Only the data about the call's
   * end must then be added.
   */
  readonly wasBegun: boolean;
  /**
   * Stores the call's ledger row (record of a tool call) separately, with the answer that a repeated call with its idempotency key gets.
   * Used if the caller could not store the row together with its own changes. Never rejects; errors go to `onUnrecorded`.
   */
  write(): Promise<void>;
};

/**
 * Outcome of a call that was prepared with `ReadyCall` and then sent. `end`: the row in the ledger (record of tool calls) that the caller
 * must commit. It is undefined if nothing is left to commit.
 */
export type SentCall = { readonly called: CallReply; readonly end: UnrecordedEnd | undefined };

/** A call that is ready to be sent. The caller must call either `send` or `cancel`, and only once. */
export type ReadyCall = {
  /**
   * The row that the caller must commit before it sends the call. Otherwise, after a crash, svc would not know that the call may have been
   * executed. If a row with the same idempotency key is already stored, the caller must not send the call. Undefined for a read, which
   * needs no such row.
   */
  readonly begun: CallRecord | undefined;
  send(): Promise<SentCall>;
  cancel(): void;
};

/** Dependencies of calls that are prepared first and sent later. */
export type ReadyContext = GateContext & LimitContext & Omit<ExecuteContext, "ledger">;

/**
 * Prepares a call, so that the caller can send it later, and records nothing. Resolves to undefined if the call cannot be made in two
 * parts; the caller then uses the function `call`. This is the case, for example, if the call ends before it is sent, or if hooks (URLs of
 * the project) review it.
 */
export async function readyCall(context: ReadyContext, request: CallRequest): Promise<ReadyCall | undefined> {
  const taken = await takeToTheGate(context, request);
  if (taken.at !== "gate" || taken.made.hooks !== undefined || request.isDryRun) return undefined;
  const { prepared } = taken.made;
  if (!("action" in prepared)) return undefined;
  const made = { ...taken.made, prepared };
  const entered = await enter(context, made);
  if (entered?.kind === "full") {
    return { begun: undefined, cancel() {}, send: async () => ({ called: limited(entered), end: undefined }) };
  }
  return readied(context, made, entered);
}

type Entered = Exclude<Awaited<ReturnType<typeof enter>>, { kind: "full" }>;

/**
 * Returns a call that is ready to be sent. The call limits have already admitted the call. It keeps its slots of these limits until it ends
 * or is cancelled.
 */
function readied(
  context: ReadyContext,
  { entry, prepared, plan }: MadeCall<PreparedCall>,
  entered: Entered,
): ReadyCall {
  const { isSandbox } = prepared.way;
  const isRead = prepared.action.class === "read";
  const begun = isRead ? undefined : context.ledger.begun(entry, prepared.account?.id, isSandbox);
  const { keepsAppKey, timeoutMs } = plan;
  const options = { keepsAppKey, timeoutMs, mayRepeat: entered?.again };
  return {
    begun,
    cancel: () => entered?.leave(),
    async send() {
      try {
        const { result, end } = await executeReady(context, { ...options, entry, prepared, begun });
        return { called: replyOf({ callId: entry.id, result, isSandbox, isReplay: false }), end };
      } finally {
        entered?.leave();
      }
    },
  };
}

/** Objects and callbacks that are needed to send a call that `readyCall` has prepared, and to record its outcome. */
type ExecuteReadyContext = Omit<ExecuteContext, "ledger"> & {
  readonly ledger: Pick<Ledger, "ended" | "bound" | "put">;
};

/**
 * A tool call that is ready to be sent. `begun`: the row in the ledger (the stored record of every tool call) that was committed before the
 * call is sent. Undefined for a read, which needs no such row.
 */
type ReadyExecution = ExecuteOptions & {
  readonly entry: LedgerEntry;
  readonly prepared: PreparedCall;
  readonly begun: CallRecord | undefined;
};

/**
 * Sends a call. If the call succeeded, its end is not stored here: the caller commits it together with its own changes. If the call failed,
 * its end is committed here at once. The caller may wait for some time before it tries again. If the node crashed during this wait, the
 * outcome of the call would otherwise be unknown.
 */
async function executeReady(
  context: ExecuteReadyContext,
  { entry, prepared, begun, ...options }: ReadyExecution,
): Promise<{ readonly result: CallResult; readonly end: UnrecordedEnd | undefined }> {
  const { ledger, onUnrecorded } = context;
  const left: CallRecord[] = [];
  const end: Ledger["end"] = async (_entry, entryEnd, { bindsKey }) => {
    const record = ledger.ended(entry, entryEnd, begun);
    if (entryEnd.result.outcome === "ok") left.push(record);
    else await ledger.put(bindsKey ? ledger.bound(entry, record, entryEnd.result) : record);
  };
  const result = await executeCall({ ...context, ledger: { end } }, entry, prepared, options);
  const [record] = left;
  if (record === undefined) return { result, end: undefined };
  const write = () =>
    ledger.put(ledger.bound(entry, record, result)).catch((error: unknown) => onUnrecorded(entry.id, error));
  return { result, end: { record, wasBegun: begun !== undefined, write } };
}
