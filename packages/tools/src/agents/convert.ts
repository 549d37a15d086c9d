import { type JsonObject, toJson } from "@bufbuild/protobuf";
import type { PagingDocument } from "@svc/catalog";
import { parseExactJson } from "@svc/core";
import { type Tool, ToolKind, ToolSchema } from "@svc/gen/catalog";
import { type CallToolResponse, CallToolResponseSchema, type ToolRequest } from "@svc/gen/tools";
import { cutText } from "./answer.ts";
import { callerOf } from "./meta-tools.ts";
import { spoken } from "./words.ts";

// The API's own messages as the meta-tools answer them: as data for a program, and as text for a model.

/** How an answer advises to call again, in the words of the tool that was called. */
export type CallHints = {
  /** To send what was held. */
  readonly confirm: string;
  /** To learn why no request can be built of what was held. */
  readonly unbuilt: string;
  /** To get what was cut off. */
  readonly rest: string;
  /** Whether a person confirms what was held, whatever the arguments say. */
  readonly isForPerson?: boolean | undefined;
};

/** CallTool's answer with the result as data; fields at their default are left out but those a program always asks for. */
export function callData(response: CallToolResponse): Record<string, unknown> {
  const { resultJson: _, ...rest } = toJson(CallToolResponseSchema, response) as JsonObject;
  const { outcome, callId, retryable, warnings } = response;
  const message = messageOf(response);
  // Parsed exactly: ids of some apps are integers beyond what a double holds.
  const result = response.resultJson === "" ? {} : { result: parseExactJson(response.resultJson) };
  return { outcome, callId, retryable, warnings, ...rest, ...(message !== "" && { message }), ...result };
}

/** What svc says itself is said in the words of agents; what an app says, as it says it. */
function messageOf({ outcome, message }: CallToolResponse): string {
  return ownOutcomes.has(outcome) ? spoken(message) : message;
}

const ownOutcomes: ReadonlySet<string> = new Set([
  "no_account",
  "account_unusable",
  "missing_scope",
  "not_bound",
  "not_callable",
]);

/** What CallTool answered of the tool `slug`, as texts for a model. */
export function callTexts(slug: string, response: CallToolResponse, hints: CallHints): string[] {
  const { outcome, resultJson, request, warnings } = response;
  if (outcome === "held") return [hints.isForPerson ? personalText(slug, response) : heldText(slug, request, hints)];
  if (outcome !== "ok") return [failureText(response)];
  if (request !== undefined) return [`Nothing was sent. This would be:\n${requestText(request)}`];
  const notes = [
    ...warnings.map((warning) =>
      warning.startsWith("truncated:") ? `${warning}. To get the rest ${hints.rest}` : warning,
    ),
    ...(response.sandbox ? ["sandbox: the result is made up; no app was called"] : []),
    ...(response.replayed
      ? ["replayed: what the first call with this idempotency_key was answered; nothing was sent"]
      : []),
  ];
  return notes.length === 0 ? [resultJson] : [resultJson, notes.map((note) => `Note: ${note}`).join("\n")];
}

function heldText(slug: string, request: ToolRequest | undefined, { confirm, unbuilt }: CallHints): string {
  const shown =
    request === undefined
      ? `The request cannot be built yet: ${unbuilt}.`
      : `This would be sent:\n${requestText(request)}`;
  return `Held: ${slug} is destructive, and nothing was sent.\n${shown}\nIf the user agrees to it, ${confirm}.`;
}

function personalText(slug: string, { jobId, request }: CallToolResponse): string {
  const shown = request === undefined ? "" : `\nThis would be sent:\n${requestText(request)}`;
  const next =
    jobId === ""
      ? "Nothing that you write carries it out."
      : `A person is asked, and on the answer proceed it is sent once, by job ${jobId}. Nothing that you write carries it out: tell the user that it waits, and go on with something else.`;
  return `Held: ${slug} is confirmed by a person, and nothing was sent.${shown}\n${next}`;
}

function failureText(response: CallToolResponse): string {
  const { outcome, retryable, retryAfter, providerStatus } = response;
  const wait = retryAfter === undefined ? "" : ` in ${Number(retryAfter.seconds) + retryAfter.nanos / 1e9} s`;
  const status = providerStatus === 0 ? "" : ` (HTTP ${providerStatus})`;
  return `${outcome}${status}: ${messageOf(response)}\n${retryable ? `The same call may be sent again${wait}.` : adviceOf(outcome)}`;
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
  const { inputSchemaJson: _, outputSchemaJson: __, pagingJson: ___, pollJson: ____, ...facts } = message;
  const { uncallableReason, replacedBy, ...rest } = facts;
  const schemas = { inputSchema: JSON.parse(tool.inputSchemaJson), outputSchema: JSON.parse(tool.outputSchemaJson) };
  return {
    ...rest,
    ...schemas,
    ...(uncallableReason !== "" && { uncallableReason }),
    ...(replacedBy !== "" && { replacedBy }),
    ...(tool.pagingJson !== "" && { paging: JSON.parse(tool.pagingJson) }),
    ...(tool.pollJson !== "" && { poll: JSON.parse(tool.pollJson) }),
  };
}

/** A tool as text for a model. */
export function toolText({
  slug,
  kind,
  accessClass,
  callable,
  uncallableReason,
  replacedBy,
  description,
  requiredScopes,
  inputSchemaJson,
  outputSchemaJson,
  pagingJson,
  pollJson,
}: Tool): string {
  const notes = [
    callable ? `Call it with ${callerOf(accessClass)}.` : `It cannot be called. ${uncallableReason}`,
    ...(replacedBy === "" ? [] : [`Its app has deprecated it: use ${replacedBy}.`]),
    ...(accessClass === "destructive" ? ['It is held until its arguments carry "confirm": true.'] : []),
    ...(requiredScopes.length === 0 ? [] : [`Its account needs the scopes ${requiredScopes.join(" ")}.`]),
  ];
  return [
    `${slug} [${accessClass}]`,
    [description.trim(), ...notes].join("\n"),
    `Arguments: ${inputSchemaJson}`,
    `Result: ${kind === ToolKind.CODE ? spoken(outputSchemaJson) : outputSchemaJson}`,
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
