import { type Action, classToConfirm, isPlayed, type SandboxMode, type Tool } from "@svc/catalog";
import type { AccountAccess, AccountQuery, AppRequest, AppTransport, CallableAccount } from "@svc/connections";
import { confirmingRule, mayElicit } from "@svc/core";
import { httpToolkit } from "../../http/http-tool.ts";
import { type HttpContext, prepareHttp, secretMissing } from "../../http/prepare-http.ts";
import { type CallResult, type RequestPreview, resultOf } from "../../outcome.ts";
import { withKeyArgument, withKeyHeader } from "../gate/idempotency.ts";
import { personalName } from "../gate/unsent-call.ts";
import { mask, masked, maskedTexts } from "../redact/mask.ts";
import { buildRequest, type RequestFault } from "./build-request.ts";
import { checkArguments, describeFaults } from "./check-arguments.ts";
import type { CallPlan, EndedCall, PreparedCall } from "./prepared-call.ts";
import { fillSecrets } from "./secret-uses.ts";

/**
 * Returns the scopes that a tool needs and an account does not have. Returns none if the app did not report the account's scopes. A granted
 * scope also covers longer scopes that begin with it and a dot: `…/calendar` covers `…/calendar.events.readonly`.
 */
export function missingScopes(needed: readonly string[], granted: readonly string[]): string[] {
  if (granted.length === 0) return [];
  return needed.filter((scope) => !granted.some((held) => scope === held || scope.startsWith(`${held}.`)));
}

type Params = Readonly<Record<string, unknown>>;

/** Objects and settings that are needed to prepare a call, that is, to check the call and to build its request. */
export type PrepareContext = HttpContext & {
  readonly accounts: AccountAccess;
  readonly transport: AppTransport;
  /** For which toolkits (apps) the sandbox answers instead of the real app. */
  readonly sandboxMode: SandboxMode;
};

/**
 * Prepares a call. Checks in this order: the tool can be called, the arguments are valid, the call is confirmed, an account with the needed
 * scopes exists, the request can be built. A call that needs confirmation also shows its request, if the request can be built.
 */
export async function prepareCall(context: PrepareContext, plan: CallPlan): Promise<PreparedCall | EndedCall> {
  const { tool } = plan;
  const action = tool.kind === "action" && tool.callable ? tool : undefined;
  if (action === undefined) return ended("not_callable", notCallable(tool));
  if (plan.toolkit === httpToolkit) return prepareHttp(context, action, plan);
  const { secretUses: uses = [], late } = plan;
  if (uses.length === 0 && late === undefined) return prepareTool(context, plan, action);
  const made = await late?.();
  const filled = await fillSecrets(context.vault, plan.caller.projectId, { args: made?.args ?? plan.args, uses });
  if ("missing" in filled) return ended("not_callable", secretMissing(filled.missing));
  const { args } = filled;
  const values = [...filled.values, ...(made?.secrets ?? [])];
  const prepared = await prepareTool(context, { ...plan, args, secrets: [...(plan.secrets ?? []), ...values] }, action);
  return "action" in prepared ? { ...prepared, vaulted: values } : prepared;
}

async function prepareTool(context: PrepareContext, plan: CallPlan, action: Action): Promise<PreparedCall | EndedCall> {
  const checked = checkArguments(action, plan.args, plan.excess);
  if ("faults" in checked) {
    // The values in the faults are removed, because each may contain a secret of the project.
    const faults = hasSecrets(plan) ? checked.faults.map((fault) => ({ ...fault, givenJson: "" })) : checked.faults;
    return {
      result: resultOf({ outcome: "invalid_arguments", message: describeFaults(faults), faults }),
      account: undefined,
    };
  }
  const built = await buildCall(context, plan, action, checked.params);
  if (confirmingRule(plan.caller.confirm, classToConfirm(action)) !== undefined)
    return heldForPerson(plan, action, built);
  if (checked.isConfirmed) return built;
  const account = "action" in built ? built.account : undefined;
  const preview = "action" in built ? built.preview() : undefined;
  return { result: resultOf({ outcome: "held", message: heldMessage(action), preview }), account };
}

/** Returns the call that a person must confirm. If its request cannot be built, returns that fault instead, and no person is asked. */
function heldForPerson(plan: CallPlan, action: Action, built: PreparedCall | EndedCall): PreparedCall | EndedCall {
  if (!("action" in built)) return built;
  const { account, preview, way } = built;
  const name = personalName(plan, account?.id, way.isSandbox);
  // The user of the client has confirmed exactly this call, and the project's policy allows clients to ask their users.
  if (plan.person?.confirmed === name && mayElicit(plan.caller.confirm, classToConfirm(action))) return built;
  const message = `${action.slug} needs a person's confirmation, regardless of its arguments, and was not carried out`;
  return { result: resultOf({ outcome: "held", message, preview: preview() }), account, forPerson: { action, name } };
}

async function buildCall(
  { accounts, transport, sandboxMode }: PrepareContext,
  plan: CallPlan,
  action: Action,
  params: Params,
): Promise<PreparedCall | EndedCall> {
  const { caller, toolkit, entityId, accountId, seen, appKey, secrets: known = [] } = plan;
  const isSandbox = isPlayed(toolkit, sandboxMode);
  const query: AccountQuery = { projectId: caller.projectId, toolkit, entityId, accountId, seen };
  const account = await accounts.resolve(query);
  if ("kind" in account) return ended(account.kind, account.message);
  const missing = missingScopes(action.scopes, account.grantedScopes);
  if (missing.length > 0) {
    const message = `the account ${account.id} was not granted ${missing.join(", ")}; connect it again and grant that`;
    // If the database is unavailable, only this record is lost.
    await accounts.lacked(query, account, missing).catch(() => undefined);
    return ended("missing_scope", message, account);
  }
  const keyed = withKeyArgument(action, params, appKey);
  const shownParams = mask(action.inputSchema, keyed) as Params;
  const build = (values: Params) => buildRequest({ toolkit, action, params: values, account }, { isSandbox });
  const secrets = [...maskedTexts(keyed, shownParams), ...known];
  const request = build(keyed);
  // The request that people see is built a second time, with masked arguments. If the schema has no sensitive parts, the first request is
  // shown.
  const buildShown = () => (shownParams === keyed ? request : build(shownParams));
  if ("outcome" in request) return unbuildable(request, hasSecrets(plan) ? undefined : buildShown(), account);
  const preview = () => {
    const shown = buildShown();
    const masked = withKeyHeader(action, "outcome" in shown ? hiddenRequest(request) : shown, appKey);
    return previewOf(accounts.preview(toolkit, account, masked));
  };
  const complete = withKeyHeader(action, request, appKey);
  return {
    action,
    toolkit,
    account,
    secrets,
    vaulted: [],
    request: complete,
    preview,
    way: {
      authorize: () => accounts.authorize(query, account, complete),
      refused: () => accounts.refused(query, account),
      taken: () => accounts.taken(query, account, action),
      lacked: (scopes) => accounts.lacked(query, account, scopes),
      transport,
      isSandbox,
    },
  };
}

/** Returns the result of a call whose request cannot be built. The message gives the reason and quotes no sensitive value. */
function unbuildable(
  fault: RequestFault,
  shown: AppRequest | RequestFault | undefined,
  account: CallableAccount,
): EndedCall {
  const hasMessage = shown !== undefined && "outcome" in shown;
  const message = hasMessage ? shown.message : "a sensitive argument has a value that the request cannot carry";
  const faults = fault.outcome === "invalid_arguments" ? [{ pointer: "", message, givenJson: "" }] : [];
  return { result: resultOf({ outcome: fault.outcome, message, faults }), account };
}

/**
 * Returns a fully masked request to show. It is used if the request cannot be built with `***` as a value, for example because a number is
 * needed.
 */
function hiddenRequest({ method }: AppRequest): AppRequest {
  return { method, url: masked, headers: {}, body: masked };
}

function hasSecrets({ secrets = [] }: CallPlan): boolean {
  return secrets.length > 0;
}

function previewOf({ method, url, headers, body = "" }: AppRequest): RequestPreview {
  return { method, url, headers, body };
}

function ended(outcome: CallResult["outcome"], message: string, account?: CallableAccount): EndedCall {
  return { result: resultOf({ outcome, message }), account };
}

function notCallable({ slug, uncallableReason }: Tool): string {
  return `${slug} cannot be called. ${uncallableReason}`;
}

function heldMessage({ slug }: Action): string {
  return `${slug} is destructive and was not carried out; call it again with "confirm": true among its arguments to carry it out`;
}
