import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import type { ProjectPrincipal } from "@svc/core";
import { CallToolRequestSchema, type CallToolResponse, CallToolResponseSchema, type ToolRequest } from "@svc/gen/tools";
import type { ToolCaller } from "../call/call-tool.ts";
import { parseExactJson } from "../call/exact-json.ts";
import { toCallToolResponse } from "../convert.ts";
import { readCallRequest } from "../service/call-request.ts";
import { cutText, type MetaToolAnswer } from "./answer.ts";
import { resultBytesDefault } from "./meta-tools.ts";

/** Arguments of call_tool, as its schema lets them through. */
export type CallArguments = {
  readonly slug: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly entity_id?: string;
  readonly connected_account_id?: string;
  readonly idempotency_key?: string;
  readonly dry_run?: boolean;
  readonly fields?: string[];
  readonly max_bytes?: number;
};

/** Calls a tool and answers call_tool; what was only held is no error. Rejects as CallTool does. */
export async function answerCall(
  caller: ToolCaller,
  principal: ProjectPrincipal,
  args: CallArguments,
): Promise<MetaToolAnswer> {
  const request = create(CallToolRequestSchema, {
    toolSlug: args.slug,
    argumentsJson: JSON.stringify(args.arguments ?? {}),
    entityId: args.entity_id ?? "",
    connectedAccountId: args.connected_account_id ?? "",
    idempotencyKey: args.idempotency_key ?? "",
    dryRun: args.dry_run ?? false,
    fields: args.fields ?? [],
    maxBytes: args.max_bytes ?? resultBytesDefault,
  });
  const { shape, ...call } = readCallRequest(request, principal);
  const response = toCallToolResponse(await caller.call(call), shape);
  return {
    texts: textsOf(args.slug, response),
    structured: structuredOf(response),
    isError: response.outcome !== "ok" && response.outcome !== "held",
  };
}

/** CallTool's answer with the result as data; fields at their default are left out but those a program always asks for. */
function structuredOf(response: CallToolResponse): Record<string, unknown> {
  const { resultJson: _, ...rest } = toJson(CallToolResponseSchema, response) as JsonObject;
  const { outcome, callId, retryable, warnings } = response;
  // Parsed exactly: ids of some apps are integers beyond what a double holds.
  const result = response.resultJson === "" ? {} : { result: parseExactJson(response.resultJson) };
  return { outcome, callId, retryable, warnings, ...rest, ...result };
}

function textsOf(slug: string, response: CallToolResponse): string[] {
  const { outcome, resultJson, request, warnings } = response;
  if (outcome === "held") return [heldText(slug, request)];
  if (outcome !== "ok") return [failureText(response)];
  if (request !== undefined) return [`Nothing was sent. This would be:\n${requestText(request)}`];
  const notes = [
    ...warnings.map((warning) => (warning.startsWith("truncated:") ? `${warning}. ${restText}` : warning)),
    ...(response.sandbox ? ["sandbox: the result is made up; no app was called"] : []),
    ...(response.replayed
      ? ["replayed: what the first call with this idempotency_key was answered; nothing was sent"]
      : []),
  ];
  return notes.length === 0 ? [resultJson] : [resultJson, notes.map((note) => `Note: ${note}`).join("\n")];
}

const restText =
  'To get the rest call again with fields set to the paths you need (such as ["items.id"]), ask the tool for a smaller page, or raise max_bytes';

function heldText(slug: string, request: ToolRequest | undefined): string {
  const shown =
    request === undefined
      ? "The request cannot be built yet: call again with dry_run: true and confirm: true inside arguments to see what is missing."
      : `This would be sent:\n${requestText(request)}`;
  return `Held: ${slug} is destructive, and nothing was sent.\n${shown}\n${confirmText}`;
}

const confirmText =
  "If the user agrees to it, call call_tool again with the same slug and arguments plus confirm: true inside arguments.";

function failureText({ outcome, message, retryable, retryAfter, providerStatus }: CallToolResponse): string {
  const wait = retryAfter === undefined ? "" : ` in ${Number(retryAfter.seconds) + retryAfter.nanos / 1e9} s`;
  const status = providerStatus === 0 ? "" : ` (HTTP ${providerStatus})`;
  return `${outcome}${status}: ${message}\n${retryable ? `The same call may be sent again${wait}.` : adviceOf(outcome)}`;
}

function adviceOf(outcome: string): string {
  if (outcome === "outcome_unknown") return "It may have been executed: find out before you send it again.";
  if (outcome === "no_account") return "An account is connected by the application and its user, not by a tool.";
  return "Sent again unchanged, it would fail again.";
}

/** Enough of a request to judge it by; the whole stands in the structured content. */
const bodyTextMax = 2_000;

function requestText({ method, url, headers, bodyJson }: ToolRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url}`, ...lines, ...(bodyJson === "" ? [] : [cutText(bodyJson, bodyTextMax)])].join("\n");
}
