import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { appNamesOf, type CatalogView } from "@svc/catalog";
import { callFailure, type Failure, type FailureRemedy, isObject, parseExactJson, scalarText } from "@svc/core";
import type { CallLimitRow } from "@svc/db/call-limits/repo";
import type { ToolCallSummary } from "@svc/db/calls/list-page";
import type { HookAnswerRow } from "@svc/db/hooks/answers";
import type { CallHookRow } from "@svc/db/hooks/repo";
import { type Failure as FailureMessage, FailureSchema, Remedy } from "@svc/gen/failures";
import {
  type CallLimit,
  CallLimitSchema,
  type CallToolResponse,
  CallToolResponseSchema,
  type Hook,
  type HookAnswer,
  HookAnswerSchema,
  HookSchema,
  type ToolCall,
  ToolCallSchema,
} from "@svc/gen/tools";
import type { CallAnswer } from "./call/call-reply.ts";
import { type ResultShape, showResult } from "./call/record/shape.ts";

/** Returns the response of CallTool, with the result cut to the requested form. */
export function toCallToolResponse(answer: CallAnswer, shape: ResultShape): CallToolResponse {
  const { callId = "", result, isSandbox, isReplay, jobId = "" } = answer;
  const { json, warnings } = showResult(answer, shape);
  return create(CallToolResponseSchema, {
    callId,
    outcome: result.outcome,
    resultJson: json,
    message: result.message,
    retryable: result.retryable,
    ...(result.retryAfterMs !== undefined && { retryAfter: durationFromMs(result.retryAfterMs) }),
    providerStatus: result.providerStatus,
    warnings: [...warnings],
    sandbox: isSandbox,
    ...(result.preview !== undefined && {
      request: {
        method: result.preview.method,
        url: result.preview.url,
        headers: { ...result.preview.headers },
        bodyJson: result.preview.body,
      },
    }),
    faults: result.faults.map(({ pointer, message, givenJson, missing = "" }) => ({
      pointer,
      message,
      givenJson,
      missing,
    })),
    replayed: isReplay,
    jobId,
  });
}

/** Decrypted parts of a call. In lists of calls, the arguments and the result are left out. */
export type OpenedCall = { readonly message: string; readonly argumentsJson: string; readonly resultJson: string };

const glanceMax = 120;
const glanceFields = 4;

/**
 * Returns the first arguments of a call in one line, such as `channel: general`, at most 120 characters. Objects and lists are left out.
 * `argumentsJson`: a JSON object whose sensitive values are masked; empty if there are no arguments.
 */
export function glanceOf(argumentsJson: string): string {
  if (argumentsJson === "") return "";
  const args = parseExactJson(argumentsJson);
  const fields = isObject(args) ? Object.entries(args) : [];
  const shown = fields.flatMap(([name, value]) => {
    const text = scalarText(value);
    return text === undefined || text === "" ? [] : [`${name}: ${text.replaceAll(/\s+/g, " ")}`];
  });
  const glance = shown.slice(0, glanceFields).join(", ");
  return glance.length > glanceMax ? `${glance.slice(0, glanceMax - 4)} ...`.toWellFormed() : glance;
}

/** Returns the names of a tool's app and of the tool in words, such as `Messaging bot: Send message`. */
function toolTitle(view: CatalogView, slug: string): string {
  const [app = "", name = ""] = slug.split(".");
  const words = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1).replaceAll(/[_-]+/g, " ")}`;
  return name === "" ? slug : `${appNamesOf(view)(slug) ?? words(app)}: ${words(name)}`;
}

/** Returns a tool call of the ledger (record of all calls) in the form of the API. */
export function toToolCall(
  row: ToolCallSummary,
  opened: OpenedCall,
  { view, glance }: { readonly view: CatalogView; readonly glance: string },
): ToolCall {
  const failure = callFailure({ ...row, message: opened.message }, appNamesOf(view));
  return create(ToolCallSchema, {
    id: row.id,
    toolSlug: row.toolSlug,
    accessClass: row.accessClass,
    entityId: row.entityId,
    connectedAccountId: row.accountId ?? "",
    keyId: row.keyId ?? "",
    jobId: row.jobId ?? "",
    stepId: row.stepId,
    outcome: row.outcome,
    providerStatus: row.providerStatus,
    argumentsDigest: row.argumentsDigest.toString("hex"),
    ...opened,
    truncated: row.isTruncated,
    sandbox: row.isSandbox,
    idempotencyKey: row.idempotencyKey ?? "",
    createdAt: timestampFromMs(row.createdAt),
    durationMs: row.durationMs,
    providerMs: row.providerMs,
    toolTitle: toolTitle(view, row.toolSlug),
    glance,
    ...(failure && { failure: failureMessage(failure) }),
  });
}

/** Returns the cause of a failed job, tool call or delivery in the form of the API. */
export function failureMessage({ atMs, remedies, ...failure }: Failure): FailureMessage {
  return create(FailureSchema, { ...failure, at: timestampFromMs(atMs), remedy: remedies.map(remedyMessage) });
}

/** Returns an action that may solve a failure as the value of the API's enum. */
export function remedyMessage(remedy: FailureRemedy): Remedy {
  return Remedy[remedy.toUpperCase() as Uppercase<FailureRemedy>];
}

/** Returns the answers of hooks (endpoints that check tool calls) about a call in the form of the API. */
export function toHookAnswers(rows: readonly HookAnswerRow[]): HookAnswer[] {
  return rows.map(({ hookId, decision, durationMs, askedAt }) =>
    create(HookAnswerSchema, { hookId, decision, durationMs, askedAt: timestampFromMs(askedAt) }),
  );
}

/** Returns a hook (an endpoint that checks tool calls) of a project in the form of the API, without its secret. */
export function toHook(row: CallHookRow): Hook {
  const { id, phase, endpointUrl, toolkitSlugs, accessClasses, position, isActive, createdAt } = row;
  return create(HookSchema, {
    ...{ id, phase, endpointUrl, toolkitSlugs, accessClasses, position },
    active: isActive,
    createdAt: timestampFromMs(createdAt),
  });
}

/** Returns a call limit of a project in the form of the API. */
export function toCallLimit(row: CallLimitRow): CallLimit {
  const { name, toolkitSlug, keyExpression, concurrency, rateMax, ratePerMs, isPaused, createdAt, updatedAt } = row;
  return create(CallLimitSchema, {
    name,
    toolkitSlug,
    keyExpression,
    concurrency,
    ...(rateMax > 0 && { rate: { max: rateMax, per: durationFromMs(ratePerMs) } }),
    paused: isPaused,
    createdAt: timestampFromMs(createdAt),
    updatedAt: timestampFromMs(updatedAt),
  });
}
