import { type JsonObject, toJson } from "@bufbuild/protobuf";
import type { PagingDocument } from "@svc/catalog";
import { parseExactJson } from "@svc/core";
import { type Tool, ToolSchema } from "@svc/gen/catalog";
import { type CallToolResponse, CallToolResponseSchema, type ToolRequest } from "@svc/gen/tools";
import { cutText } from "./answer.ts";

// The API's own messages as the meta-tools answer them: as data for a program, and as text for a model.

/** CallTool's answer with the result as data; fields at their default are left out but those a program always asks for. */
export function callData(response: CallToolResponse): Record<string, unknown> {
  const { resultJson: _, ...rest } = toJson(CallToolResponseSchema, response) as JsonObject;
  const { outcome, callId, retryable, warnings } = response;
  // Parsed exactly: ids of some apps are integers beyond what a double holds.
  const result = response.resultJson === "" ? {} : { result: parseExactJson(response.resultJson) };
  return { outcome, callId, retryable, warnings, ...rest, ...result };
}

/** What CallTool answered of the tool `slug`, as texts for a model. */
export function callTexts(slug: string, response: CallToolResponse): string[] {
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

/** A tool as GetTool answers it, its schemas as objects. */
export function toolData(tool: Tool): Record<string, unknown> {
  const message = toJson(ToolSchema, tool, { alwaysEmitImplicit: true }) as JsonObject;
  const { inputSchemaJson: _, outputSchemaJson: __, pagingJson: ___, pollJson: ____, ...rest } = message;
  const schemas = { inputSchema: JSON.parse(tool.inputSchemaJson), outputSchema: JSON.parse(tool.outputSchemaJson) };
  return {
    ...rest,
    ...schemas,
    ...(tool.pagingJson !== "" && { paging: JSON.parse(tool.pagingJson) }),
    ...(tool.pollJson !== "" && { poll: JSON.parse(tool.pollJson) }),
  };
}

/** A tool as text for a model. */
export function toolText({
  slug,
  accessClass,
  callable,
  description,
  requiredScopes,
  inputSchemaJson,
  outputSchemaJson,
  pagingJson,
  pollJson,
}: Tool): string {
  const notes = [
    ...(callable ? [] : ["It cannot be called."]),
    ...(accessClass === "destructive" ? ['It is held until its arguments carry "confirm": true.'] : []),
    ...(requiredScopes.length === 0 ? [] : [`Its account needs the scopes ${requiredScopes.join(" ")}.`]),
  ];
  return [
    `${slug} [${accessClass}]`,
    [description.trim(), ...notes].join("\n"),
    `Arguments: ${inputSchemaJson}`,
    `Result: ${outputSchemaJson}`,
    ...(pollJson === "" ? [] : [`New rows: a standing program polls it as ${pollJson} says.`]),
    ...(pagingJson === "" ? [] : [pagingText(pagingJson)]),
  ].join("\n\n");
}

function pagingText(pagingJson: string): string {
  const { arg, from, query, start = 0, by, size, more } = JSON.parse(pagingJson) as PagingDocument;
  const taken =
    from === undefined
      ? by === undefined
        ? `the number of the page, from ${start}`
        : `how many rows to skip${start === 0 ? "" : `, from ${start}`}`
      : query === undefined
        ? `what ${from} of the answer holds`
        : `the query parameter ${query} of the link at ${from} of the answer`;
  const rows = size === undefined ? "" : ` ${size} says how many rows a page has.`;
  const last = more === undefined ? "" : ` ${more} is false on the last page.`;
  return `Next page: call again with ${arg} set to ${taken}.${rows}${last}`;
}
