import { type CallHooks, editedArguments, type HookedCall } from "../../hooks/call-hooks.ts";
import { httpToolkit } from "../../http/http-tool.ts";
import { type CallResult, resultOf } from "../../outcome.ts";
import type { CallRequest } from "../call-request.ts";
import { type PrepareContext, prepareCall } from "../prepare/prepare.ts";
import type { EndedCall, MadeCall, PreparedCall } from "../prepare/prepared-call.ts";
import { digestCall } from "./idempotency.ts";

/** The hooks (URLs of a project) that svc asks before it sends a tool call. Undefined if svc asks no hook about calls. */
export type HookContext = { readonly hooks?: CallHooks | undefined };

/**
 * Returns the project's hooks (endpoints that check tool calls) that must be asked about a call. Returns none for a call that will not be
 * sent.
 */
export function hooksOf(
  { hooks }: HookContext,
  { entry, prepared }: Pick<MadeCall, "entry" | "prepared">,
): ReturnType<CallHooks["of"]> {
  const action = "action" in prepared ? prepared.action : prepared.forPerson?.action;
  return action && hooks?.of(entry, action);
}

/**
 * Asks the hooks (endpoints that check tool calls) about a call and returns the call as the hooks changed it. If a hook changed arguments,
 * the call is prepared again with them.
 */
export async function reviewed(context: HookContext & PrepareContext, made: MadeCall): Promise<MadeCall> {
  const { entry, plan, prepared, hooks } = made;
  const answer = hooks && (await context.hooks?.before(hooks, hookedCall(made)));
  if (answer === undefined) return made;
  const account = prepared.account;
  if ("ended" in answer) return { ...made, prepared: { result: answer.ended, account } };
  const { edits } = answer;
  if (edits.length === 0) return made;
  const args = editedArguments(plan.args, edits);
  const callDigest = digestCall({ toolSlug: entry.toolSlug, account: accountOf(plan), args });
  const again = { ...plan, args, callDigest };
  return { hooks, entry: { ...entry, args }, plan: again, prepared: unlessInvalid(await prepareCall(context, again)) };
}

/**
 * Ends a tool call if the project's hooks (URLs that svc asks about tool calls) changed its arguments to values that do not match the
 * tool's schema. The caller could not correct such arguments.
 */
function unlessInvalid(prepared: PreparedCall | EndedCall): PreparedCall | EndedCall {
  if ("action" in prepared || prepared.result.outcome !== "invalid_arguments") return prepared;
  const message = `hooks of the project changed the arguments to values that the tool refuses: ${prepared.result.message}`;
  return { account: prepared.account, result: resultOf({ outcome: "not_callable", message }) };
}

function hookedCall({ entry, plan, prepared }: MadeCall): HookedCall {
  const action = "action" in prepared ? prepared.action : prepared.forPerson?.action;
  if (action === undefined) throw new Error(`a call of ${entry.toolSlug} that is not to be sent is asked about`);
  const { toolkit, secretUses = [], late, isDryRun } = plan;
  const isEditable = toolkit !== httpToolkit && secretUses.length === 0 && late === undefined;
  const secrets = "action" in prepared ? prepared.secrets : (plan.secrets ?? []);
  return { entry, action, isDryRun, isEditable, secrets };
}

/**
 * Returns the function that sends a call's result to the project's hooks (URLs that svc asks about tool calls). Undefined if no hook is to
 * be asked about the result.
 */
export function reviewOf({ hooks: asker }: HookContext, { entry, prepared, hooks }: MadeCall<PreparedCall>) {
  if (hooks === undefined || hooks.after.length === 0 || asker === undefined) return undefined;
  const call: HookedCall = {
    entry,
    action: prepared.action,
    isDryRun: false,
    isEditable: false,
    secrets: prepared.secrets,
  };
  return (result: CallResult) => asker.after(hooks, call, result);
}

/**
 * Returns a text that identifies the account of a call. With it, svc recognizes if a second call with the same idempotency key is a repeat.
 * For a scoped key, the text also contains the call's entity (customer or user).
 */
export function accountOf({ caller: { binding }, accountId, entityId }: CallRequest): string {
  if (accountId === undefined) return `entity:${entityId}`;
  // Otherwise a scoped key could use an idempotency key again to get the result of a call for another entity.
  return binding === undefined ? accountId : `entity:${entityId}:${accountId}`;
}
