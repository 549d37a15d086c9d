import type { CallRecord } from "@svc/db/calls/repo";
import type { CallResult } from "../outcome.ts";
import { type CallReply, replyOf } from "./call-reply.ts";
import type { CallRequest } from "./call-request.ts";
import { type GateContext, takeToTheGate } from "./gate/gate.ts";
import { enter, type LimitContext, limited } from "./gate/limited-call.ts";
import type { MadeCall, PreparedCall } from "./prepare/prepared-call.ts";
import type { Ledger, LedgerEntry } from "./record/ledger.ts";
import { type ExecuteContext, type ExecuteOptions, executeCall } from "./send/execute.ts";

/** The end of an executed call. The caller of the call commits this end. */
export type UnrecordedEnd = {
  /**
   * Complete ledger row, without an answer for the idempotency key. The caller commits its own result with the row, so the call is not
   * repeated.
   */
  readonly record: CallRecord;
  /** True if the row was written at the start of the call and only its end is missing. */
  readonly wasBegun: boolean;
  /**
   * Commits the row alone, with its idempotency key. For a caller that could not commit the row with its own changes. Never rejects:
   * `onUnrecorded` receives errors.
   */
  write(): Promise<void>;
};

/** Outcome of a ready call. `end`: the row that the caller must commit; undefined if nothing is left to commit. */
export type SentCall = { readonly called: CallReply; readonly end: UnrecordedEnd | undefined };

/** A call that is ready to be sent. The caller must call either `send` or `cancel`, exactly once. */
export type ReadyCall = {
  /**
   * The row that the caller commits before sending. Without this row, a crash hides that the call may have been executed. If the row's key
   * is already taken, do not send the call. Undefined for a read.
   */
  readonly begun: CallRecord | undefined;
  send(): Promise<SentCall>;
  cancel(): void;
};

/** Dependencies of ready calls. */
export type ReadyContext = GateContext & LimitContext & Omit<ExecuteContext, "ledger">;

/**
 * Prepares the call that `call` would send, and records nothing. Undefined if the call ends before sending or if the caller must use `call`
 * (for example because hooks review the call).
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

/** Returns a ready call after its limits admitted the call. The call's slots are released when the call ends. */
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

/** Dependencies of executing a ready call. */
type ExecuteReadyContext = Omit<ExecuteContext, "ledger"> & {
  readonly ledger: Pick<Ledger, "ended" | "bound" | "put">;
};

/** A call to send, and its row that was committed at the start. The row is undefined for a read, because a read has no row at its start. */
type ReadyExecution = ExecuteOptions & {
  readonly entry: LedgerEntry;
  readonly prepared: PreparedCall;
  readonly begun: CallRecord | undefined;
};

/**
 * Sends a call whose caller commits its end. If the call failed, its end is committed here, because the caller may wait and try again. A
 * crash during that wait must not make the outcome unknown.
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
