import { createHash } from "node:crypto";
import { type Action, classToConfirm } from "@svc/catalog";
import type { AccountAccess } from "@svc/connections";
import { type AccountId, confirmingRule, type Fault, type Id } from "@svc/core";
import { type CallResult, resultOf } from "../outcome.ts";
import type { BoundRefusal } from "./bind.ts";
import type { Caller } from "./call-request.ts";
import type { LedgerEntry } from "./ledger.ts";
import type { CallPlan, EndedCall } from "./prepared-call.ts";

/** A call that a person is to confirm, without the word of its caller. */
export type PersonalCall = {
  readonly caller: Caller;
  readonly action: Action;
  readonly args: Readonly<Record<string, unknown>>;
  readonly entityId: string;
  /** The one that it is made with, or it is not made: another may be the entity's when the person answers. */
  readonly accountId: AccountId;
  /** The same for calls that one answer is about: of the key, tool, account and arguments, and the caller's idempotency key. */
  readonly name: string;
  /** Whether the caller named the call: then it is made once, however often it is asked for. */
  readonly isNamed: boolean;
};

/** Asks a person about a call, which is made once where the answer is yes. Rejects when the store is away. */
export type PersonAsker = (call: PersonalCall) => Promise<{ readonly jobId: Id<"job"> } | { readonly refusal: Fault }>;

/** What asking a person works with. Without `askPerson` such calls are held for good. */
export type PersonContext = {
  readonly accounts: Pick<AccountAccess, "resolve">;
  readonly askPerson?: PersonAsker | undefined;
};

/** What asking came to. */
export type Asked = { readonly result: CallResult; readonly jobId: Id<"job"> | undefined } | BoundRefusal;

/** Asks a person about a call that is held for one. The account that was found for it is the one that it is made with. */
export async function askPersonAbout(
  { accounts, askPerson }: PersonContext,
  { caller, idempotencyKey }: LedgerEntry,
  plan: CallPlan,
  { result, account, forPerson }: EndedCall,
): Promise<Asked> {
  if (forPerson === undefined || account === undefined || askPerson === undefined) return { result, jobId: undefined };
  const { action, name } = forPerson;
  const { entityId } = account;
  const query = { projectId: caller.projectId, toolkit: plan.toolkit, entityId, accountId: undefined };
  const found = await accounts.resolve(query);
  if ("kind" in found || found.id !== account.id) {
    const message = `${account.id} is not the account of toolkit ${plan.toolkit.slug} that calls of ${entityId} are made with, and a person is asked about those alone`;
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

/** What one answer of a person is about: the key, tool, account and arguments, and the caller's idempotency key. */
export function personalName(
  { caller, callDigest, idempotencyKey }: Pick<CallPlan, "caller" | "callDigest" | "idempotencyKey">,
  accountId: AccountId | undefined,
): string {
  const parts = [caller.keyId, accountId, callDigest.toString("hex"), idempotencyKey];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
