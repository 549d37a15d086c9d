import type { CallLimits } from "../../limits/call-limits.ts";
import type { EntryOutcome } from "../../limits/pacer.ts";
import { type CallReply, type LimitRefusal, replyOf, replyOfEarlier } from "../call-reply.ts";
import type { MadeCall, PreparedCall } from "../prepare/prepared-call.ts";
import { type ExecuteContext, executeCall } from "../send/execute.ts";
import { type HookContext, reviewOf } from "./hooked-call.ts";
import { beginKeyed, type KeyContext } from "./keyed-call.ts";

/** The call limits that a call must pass before it is sent. */
export type LimitContext = { readonly limits: Pick<CallLimits, "enter"> };

type SendContext = LimitContext & ExecuteContext & KeyContext & HookContext;

const limitWaitDefaultMs = 2_000;

/**
 * A placeholder for the account in call limits. It is used for HTTP requests that a program makes itself without an account. A limit per
 * account counts all such requests together.
 */
const nobody = { id: "", entityId: "" };

/**
 * Waits until the call limits that apply to a tool call allow it to start. Returns the outcome of the wait. Returns undefined at once if no
 * limit applies to the call.
 */
export function enter(
  { limits }: LimitContext,
  { entry, prepared: { account: own, action, toolkit }, plan }: MadeCall<PreparedCall>,
): Promise<EntryOutcome> | undefined {
  const { projectId, job } = entry.caller;
  const account = own ?? nobody;
  const call = { projectId, toolkit, toolSlug: action.slug, accessClass: action.class, account, jobId: job?.id };
  return limits.enter(call, plan.limitWaitMs ?? limitWaitDefaultMs);
}

/** Returns the reply to a call that its limits did not admit in time. */
export function limited({ by, isPaused, retryAfterMs }: Extract<EntryOutcome, { kind: "full" }>): LimitRefusal {
  return { outcome: "limited", limit: by.limitName, isPaused, retryAfterMs };
}

/**
 * Waits until the call limits have room for the call, then sends the call. Nothing is recorded while the call waits, so a call that finds
 * no room can be repeated without consequences.
 */
export async function enterAndSend(context: SendContext, made: MadeCall<PreparedCall>): Promise<CallReply> {
  const entering = enter(context, made);
  if (entering === undefined) return send(context, made);
  const entered = await entering;
  if (entered.kind === "full") return limited(entered);
  try {
    return await send(context, made, entered.again);
  } finally {
    entered.leave();
  }
}

/**
 * Sends a call. Before a write is sent, it is committed to the ledger (record of all tool calls), so that a crash of the node cannot hide
 * it.
 */
async function send(
  context: SendContext,
  made: MadeCall<PreparedCall>,
  mayRepeat?: () => Promise<boolean>,
): Promise<CallReply> {
  const { ledger } = context;
  const { entry, prepared, plan } = made;
  const { isSandbox } = prepared.way;
  const accountId = prepared.account?.id;
  if (entry.idempotencyKey !== undefined) {
    const earlier = await beginKeyed(context, entry, { accountId, isSandbox });
    if (earlier !== undefined) return replyOfEarlier(earlier);
  } else if (prepared.action.class !== "read") {
    // A read changes nothing. If its node fails, no record is needed, so the row of a read is written only at its end.
    await ledger.begin(entry, accountId, isSandbox);
  }
  const result = await executeCall(context, entry, prepared, {
    keepsAppKey: plan.keepsAppKey,
    timeoutMs: plan.timeoutMs,
    takesImages: plan.takesImages,
    mayRepeat,
    review: reviewOf(context, made),
  });
  return replyOf({ callId: entry.id, result, isSandbox, isReplay: false });
}
