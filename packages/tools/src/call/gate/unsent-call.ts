import { createHash } from "node:crypto";
import { type Action, classToConfirm, isPlayed, type SandboxMode } from "@svc/catalog";
import type { AccountAccess } from "@svc/connections";
import { type AccountId, confirmingRule, type Fault, type Id, isoTime, mayElicit } from "@svc/core";
import { type CallResult, resultOf } from "../../outcome.ts";
import { type CallAnswer, type CallReply, replyOf } from "../call-reply.ts";
import type { Caller } from "../call-request.ts";
import type { BoundRefusal } from "../find/bind.ts";
import type { CallPlan, EndedCall, PreparedCall } from "../prepare/prepared-call.ts";
import type { Ledger, LedgerEntry } from "../record/ledger.ts";
import { takesKey } from "./idempotency.ts";

/** A tool call that a person must confirm. The field `confirm` of the caller's request does not confirm it. */
export type PersonalCall = {
  readonly caller: Caller;
  readonly action: Action;
  readonly args: Readonly<Record<string, unknown>>;
  readonly entityId: string;
  /** The account that the call will use, even if the entity connects another account before the call is made. */
  readonly accountId: AccountId;
  /**
   * Name that identifies the call. Calls with the same key, tool, account, arguments and idempotency key have the same name, and share one
   * answer of a person.
   */
  readonly name: string;
  /**
   * True if the caller gave an idempotency key. The call is then made only once, however often it is requested. False if each request makes
   * its own call.
   */
  readonly isNamed: boolean;
};

/**
 * Starts a job that asks a person about a call, and returns the job's id or the reason for a refusal. If the person says yes, the call is
 * made once. Rejects if the database is unavailable.
 */
export type PersonAsker = (call: PersonalCall) => Promise<{ readonly jobId: Id<"job"> } | { readonly refusal: Fault }>;

/** Dependencies of asking a person about a call. Without `askPerson`, calls that a person must confirm are never sent. */
export type PersonContext = {
  readonly accounts: Pick<AccountAccess, "resolve">;
  readonly askPerson?: PersonAsker | undefined;
};

/** Outcome of asking a person: the result of the call, and the id of the job that asks the question. */
type AskOutcome = { readonly result: CallResult; readonly jobId: Id<"job"> | undefined } | BoundRefusal;

/**
 * Starts to ask a person about a call that needs confirmation, and returns the outcome for the caller. If the person confirms later, the
 * call uses the account that was found now.
 */
async function askPersonAbout(
  { accounts, askPerson }: PersonContext,
  { caller, idempotencyKey }: LedgerEntry,
  plan: CallPlan,
  { result, account, forPerson }: EndedCall,
): Promise<AskOutcome> {
  if (forPerson === undefined || account === undefined || askPerson === undefined) return { result, jobId: undefined };
  const { action, name } = forPerson;
  const { entityId } = account;
  const query = { projectId: caller.projectId, toolkit: plan.toolkit, entityId, accountId: undefined };
  const found = await accounts.resolve(query);
  if ("kind" in found || found.id !== account.id) {
    const message = `${account.id} is not the account that calls of ${entityId} to toolkit ${plan.toolkit.slug} use, and a person can confirm only those calls`;
    return { result: resultOf({ outcome: "not_callable", message }), jobId: undefined };
  }
  const { confirm: _word, ...args } = plan.args;
  const asked = await askPerson({
    ...{ caller, action, args, entityId, accountId: account.id, isNamed: idempotencyKey !== undefined },
    name,
  });
  if ("refusal" in asked) return { outcome: "refused", refusal: asked.refusal };
  const contact = confirmingRule(caller.confirm, classToConfirm(action))?.contact ?? "";
  const message = `${result.message}: job ${asked.jobId} asks ${contact}, and carries it out once on the answer proceed`;
  return { result: { ...result, message }, jobId: asked.jobId };
}

/**
 * Returns the name that identifies a call to be confirmed. One answer of a person covers all calls with the same key, tool, account,
 * arguments and idempotency key. `isSandbox`: true if the sandbox answers the call. Such an answer never covers a call of the real app.
 */
export function personalName(
  { caller, callDigest, idempotencyKey }: Pick<CallPlan, "caller" | "callDigest" | "idempotencyKey">,
  accountId: AccountId | undefined,
  isSandbox: boolean,
): string {
  const parts = [caller.keyId, accountId, callDigest.toString("hex"), idempotencyKey];
  if (isSandbox) parts.push("played");
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

type EndContext = { readonly ledger: Pick<Ledger, "end">; readonly sandboxMode: SandboxMode };

/** Returns the answer of a dry run: the request that would be sent. Records nothing. */
export function dryRun(
  { sandboxMode }: Pick<EndContext, "sandboxMode">,
  { toolkit }: Pick<CallPlan, "toolkit">,
  prepared: PreparedCall | EndedCall,
): CallAnswer {
  const isSandbox = isPlayed(toolkit, sandboxMode);
  const result = "action" in prepared ? resultOf({ outcome: "ok", preview: prepared.preview() }) : prepared.result;
  return { callId: undefined, result, isSandbox, isReplay: false, ...personal(prepared) };
}

/**
 * Records a tool call that svc does not send, for example a refused call, and returns the reply to the caller. If a person must confirm the
 * call, asks the person first.
 */
export async function endUnsent(
  context: EndContext & PersonContext,
  entry: LedgerEntry,
  plan: CallPlan,
  prepared: EndedCall,
): Promise<CallReply> {
  const isSandbox = isPlayed(plan.toolkit, context.sandboxMode);
  const isAsked = mayAskClient(plan, prepared);
  // This is a notification that a job sends to its contacts. It cannot be confirmed by a person, so if a rule requires confirmation, it is
  // not sent.
  const isLeft = isAsked || plan.caller.job !== undefined;
  const asked = isLeft
    ? { result: prepared.result, jobId: undefined }
    : await askPersonAbout(context, entry, plan, prepared);
  if ("refusal" in asked) return asked;
  const { result, jobId } = asked;
  const askFor = isAsked ? prepared.forPerson?.name : undefined;
  const end = { result, accountId: prepared.account?.id, isSandbox, providerMs: 0 };
  await context.ledger.end(entry, end, { bindsKey: false });
  return replyOf({ callId: entry.id, result, isSandbox, isReplay: false, ...personal(prepared), askFor, jobId });
}

/** True if the caller's client can ask its own user, and all rules for this call allow that. False if a job must ask a person. */
function mayAskClient({ person, caller }: CallPlan, { forPerson }: EndedCall): boolean {
  return person !== undefined && forPerson !== undefined && mayElicit(caller.confirm, classToConfirm(forPerson.action));
}

/**
 * True if the call must not be sent a second time, because the app takes no idempotency key and would write again. False if a repeat is
 * safe.
 */
export function isNeverRepeated({ action }: PreparedCall): boolean {
  return action.class !== "read" && !takesKey(action);
}

/**
 * Records the outcome of a write call as unknown. The call may have been sent before the database was restored from a backup, and the
 * backup does not show it. If a node fails during a call, the call is recorded in the same way.
 */
export async function endDoubted(
  context: Pick<EndContext, "ledger">,
  entry: LedgerEntry,
  prepared: PreparedCall,
  restoredFrom: number,
): Promise<CallReply> {
  const message = `the database was restored from a backup of ${isoTime(restoredFrom)}; the call may have been made since then, and was not sent`;
  const result = resultOf({ outcome: "outcome_unknown", message });
  const { isSandbox } = prepared.way;
  const end = { result, accountId: prepared.account?.id, isSandbox, providerMs: 0 };
  await context.ledger.end(entry, end, { bindsKey: true });
  return replyOf({ callId: entry.id, result, isSandbox, isReplay: false });
}

function personal(prepared: PreparedCall | EndedCall): Pick<CallAnswer, "isForPerson"> {
  return "forPerson" in prepared ? { isForPerson: true } : {};
}
