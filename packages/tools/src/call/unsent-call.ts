import { classToConfirm } from "@svc/catalog";
import { isoTime, mayElicit } from "@svc/core";
import { resultOf } from "../outcome.ts";
import { type CallAnswer, type Called, called } from "./called.ts";
import { askPersonAbout, type PersonContext } from "./for-person.ts";
import { takesKey } from "./idempotency.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import type { CallPlan, EndedCall, PreparedCall } from "./prepared-call.ts";

type EndContext = { readonly ledger: Pick<Ledger, "end">; readonly isSandbox: boolean };

/** Answers what would be sent, and records nothing. */
export function dryRun({ isSandbox }: Pick<EndContext, "isSandbox">, prepared: PreparedCall | EndedCall): CallAnswer {
  const result = "action" in prepared ? resultOf({ outcome: "ok", preview: prepared.preview() }) : prepared.result;
  return { callId: undefined, result, isSandbox, isReplay: false, ...personal(prepared) };
}

/** Records a call that is not sent; where a person is to confirm it, the person is asked first. */
export async function endUnsent(
  context: EndContext & PersonContext,
  entry: LedgerEntry,
  plan: CallPlan,
  prepared: EndedCall,
): Promise<Called> {
  const { isSandbox } = context;
  const isAsked = mayAskClient(plan, prepared);
  // What a job tells its contacts by is confirmed by nobody: it is held for good.
  const isLeft = isAsked || plan.caller.job !== undefined;
  const asked = isLeft
    ? { result: prepared.result, jobId: undefined }
    : await askPersonAbout(context, entry, plan, prepared);
  if ("refusal" in asked) return asked;
  const { result, jobId } = asked;
  const askFor = isAsked ? prepared.forPerson?.name : undefined;
  const end = { result, accountId: prepared.account?.id, isSandbox, providerMs: 0 };
  await context.ledger.end(entry, end, { bindsKey: false });
  return called({ callId: entry.id, result, isSandbox, isReplay: false, ...personal(prepared), askFor, jobId });
}

/** True if the caller's client can put the question to its own user, and every rule that covers the call lets it. */
function mayAskClient({ person, caller }: CallPlan, { forPerson }: EndedCall): boolean {
  return person !== undefined && forPerson !== undefined && mayElicit(caller.confirm, classToConfirm(forPerson.action));
}

/** Whether a second time is another write: nothing tells the app that it has done it. */
export function isNeverRepeated({ action }: PreparedCall): boolean {
  return action.class !== "read" && !takesKey(action);
}

/** Records a write that may have been made before the store was restored, as one whose node was lost. */
export async function endDoubted(
  context: Pick<EndContext, "ledger">,
  entry: LedgerEntry,
  prepared: PreparedCall,
  restoredFrom: number,
): Promise<Called> {
  const message = `the store was restored from a backup of ${isoTime(restoredFrom)}; the call may have been made since then, and was not sent`;
  const result = resultOf({ outcome: "outcome_unknown", message });
  const { isSandbox } = prepared.way;
  const end = { result, accountId: prepared.account?.id, isSandbox, providerMs: 0 };
  await context.ledger.end(entry, end, { bindsKey: true });
  return called({ callId: entry.id, result, isSandbox, isReplay: false });
}

function personal(prepared: PreparedCall | EndedCall): Pick<CallAnswer, "isForPerson"> {
  return "forPerson" in prepared ? { isForPerson: true } : {};
}
