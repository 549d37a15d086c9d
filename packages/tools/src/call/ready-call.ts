import type { CallRecord } from "@svc/db/calls/repo";
import type { CallResult } from "../outcome.ts";
import { type CallReply, replyOf } from "./call-reply.ts";
import type { CallRequest } from "./call-request.ts";
import { type GateContext, takeToTheGate } from "./gate/gate.ts";
import { enter, type LimitContext, limited } from "./gate/limited-call.ts";
import type { MadeCall, PreparedCall } from "./prepare/prepared-call.ts";
import type { Ledger, LedgerEntry } from "./record/ledger.ts";
import { type ExecuteContext, type ExecuteOptions, executeCall } from "./send/execute.ts";

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
export type SentCall = { readonly called: CallReply; readonly end: UnrecordedEnd | undefined };

/** A call that is ready to be sent. `send` or `cancel` is to be called, once. */
export type ReadyCall = {
  /**
   * What its caller commits before it is sent: else nobody knows after a crash that it may have been executed. One that finds the key
   * held is not to be sent. Undefined for a read.
   */
  readonly begun: CallRecord | undefined;
  send(): Promise<SentCall>;
  cancel(): void;
};

/** What readying calls works with. */
export type ReadyContext = GateContext & LimitContext & Omit<ExecuteContext, "ledger">;

/** Readies what `call` would send; undefined if it ends before, or is to be made by that, as one that hooks are asked about. Nothing is recorded. */
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

/** A call that has its turn, which ends with it. */
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
