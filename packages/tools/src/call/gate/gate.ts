import type { CodeTool } from "@svc/catalog";
import { type CallReply, replyOfEarlier } from "../call-reply.ts";
import type { CallRequest } from "../call-request.ts";
import { bindCall } from "../find/bind.ts";
import { argumentsFor, type FindContext, findTool } from "../find/find-tool.ts";
import { type PlanContext, planCall } from "../find/plan-call.ts";
import { type PrepareContext, prepareCall } from "../prepare/prepare.ts";
import type { MadeCall, PreparedCall } from "../prepare/prepared-call.ts";
import type { LedgerEntry } from "../record/ledger.ts";
import { type HookContext, hooksOf } from "./hooked-call.ts";
import { findEarlier, type KeyContext } from "./keyed-call.ts";
import { isNeverRepeated } from "./unsent-call.ts";

/**
 * Dependencies of the work that is done before a tool call is sent: finding the tool and the account, checking the key, and asking hooks
 * (endpoints that check tool calls).
 */
export type GateContext = FindContext & PlanContext & PrepareContext & KeyContext & HookContext;

/**
 * Progress of a call before it is sent. `end`: the call is answered, and nothing was sent. `code`: the call runs code of svc. `doubt`: the
 * call may already have been sent before the database was restored. `gate`: the call must still pass hooks (endpoints that check tool
 * calls) and limits before it is sent.
 */
export type TakenCall =
  | { readonly at: "end"; readonly called: CallReply }
  | { readonly at: "code"; readonly entry: LedgerEntry; readonly tool: CodeTool }
  | {
      readonly at: "doubt";
      readonly entry: LedgerEntry;
      readonly prepared: PreparedCall;
      readonly restoredFrom: number;
    }
  | { readonly at: "gate"; readonly made: MadeCall };

/**
 * Prepares a call, but sends nothing and records nothing. It checks the caller's access scope, finds the tool and plans the call. It looks
 * for an earlier call with the same idempotency key, and prepares the request to the app.
 */
export async function takeToTheGate(context: GateContext, given: CallRequest): Promise<TakenCall> {
  const asked = bindCall(given);
  if ("refusal" in asked) return { at: "end", called: asked };
  const found = await findTool(context, asked);
  if ("outcome" in found) return { at: "end", called: found };
  const { entry, plan } = planCall(context, { ...asked, args: argumentsFor(asked, found.tool) }, found);
  const { isDryRun, job, tool } = plan;
  if (!isDryRun && job?.isFirst !== true) {
    // This check comes first, so that a call that was already executed gets its earlier answer, even if the tool, the account or `confirm`
    // has changed since.
    const earlier = await findEarlier(context, entry, entry.isPlayed);
    if (earlier !== undefined) return { at: "end", called: replyOfEarlier(earlier) };
  }
  if (tool.kind === "code") return { at: "code", entry, tool };
  const prepared = await prepareCall(context, plan);
  const restoredFrom = job?.restoredFrom;
  // The hooks are not asked about this call, because it will never be sent.
  if (!isDryRun && restoredFrom !== undefined && "action" in prepared && isNeverRepeated(prepared))
    return { at: "doubt", entry, prepared, restoredFrom };
  const hooks = await hooksOf(context, { entry, prepared });
  return { at: "gate", made: { entry, plan, prepared, hooks } };
}
