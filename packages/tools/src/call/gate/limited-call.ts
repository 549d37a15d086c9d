import type { CallLimits } from "../../limits/call-limits.ts";
import type { EntryOutcome } from "../../limits/pacer.ts";
import { type CallReply, type LimitRefusal, replyOf, replyOfEarlier } from "../call-reply.ts";
import type { MadeCall, PreparedCall } from "../prepare/prepared-call.ts";
import { type ExecuteContext, executeCall } from "../send/execute.ts";
import { type HookContext, reviewOf } from "./hooked-call.ts";
import { beginKeyed, type KeyContext } from "./keyed-call.ts";

/** Dependencies of limited calls. */
export type LimitContext = { readonly limits: Pick<CallLimits, "enter"> };

type SendContext = LimitContext & ExecuteContext & KeyContext & HookContext;

const limitWaitDefaultMs = 2_000;

/** A program's own request has no account. A limiter key made of the account counts all such requests together. */
const nobody = { id: "", entityId: "" };

/** Waits for the call's limits; undefined if nothing limits it. */
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

/** Sends a call when its limits admit it. Nothing is recorded before, so the call can be repeated as if it had never been made. */
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

/** Commits that the call is about to be sent if that must survive a crash of the node, then sends it. */
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
    const earlier = await beginKeyed({ ...context, isSandbox }, entry, accountId);
    if (earlier !== undefined) return replyOfEarlier(context, earlier);
  } else if (prepared.action.class !== "read") {
    // A read that is lost with its node leaves nothing in doubt, so its row is written once, at its end.
    await ledger.begin(entry, accountId, isSandbox);
  }
  const result = await executeCall(context, entry, prepared, {
    keepsAppKey: plan.keepsAppKey,
    timeoutMs: plan.timeoutMs,
    mayRepeat,
    review: reviewOf(context, made),
  });
  return replyOf({ callId: entry.id, result, isSandbox, isReplay: false });
}
