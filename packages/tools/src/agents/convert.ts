import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { DurationSchema, durationFromMs } from "@bufbuild/protobuf/wkt";
import type { PagingDocument } from "@svc/catalog";
import { parseExactJson } from "@svc/core";
import { type Tool, ToolKind, ToolSchema } from "@svc/gen/catalog";
import type { CallAnswer } from "../call/call-reply.ts";
import type { ShownResult } from "../call/record/shape.ts";
import type { CallResult, RequestPreview } from "../outcome.ts";
import { cutText } from "./answer.ts";
import { callerOf } from "./meta-tools.ts";
import { spoken } from "./words.ts";

// Functions that convert calls and tools to answers of the meta-tools. Each answer has data for a program and text for a model.

/** Advice for an agent about its next call, in the answer to the present call. The advice names the tool that the agent called. */
export type CallHints = {
  /** Advice: how to send a call again that needs confirmation. */
  readonly confirm: string;
  /** Text after `The request cannot be built yet:` in the answer to a held call. It says what is missing, or how to find that out. */
  readonly unbuilt: string;
  /** Advice: how to get the part of a result that was cut off. */
  readonly rest: string;
};

/**
 * Returns the answer of a tool call as data for a program. Fields with default values are omitted, except those that every program needs,
 * such as `outcome`.
 */
export function callData(answer: CallAnswer, { json, warnings }: ShownResult): Record<string, unknown> {
  const { callId = "", result, isSandbox, isReplay, jobId } = answer;
  const { outcome, retryable, retryAfterMs, providerStatus, preview, faults } = result;
  const { method, url, headers, body: bodyJson } = preview ?? {};
  return {
    ...{ outcome, callId, retryable, warnings },
    ...withoutDefaults({
      message: messageOf(result),
      retryAfter: retryAfterMs === undefined ? undefined : toJson(DurationSchema, durationFromMs(retryAfterMs)),
      providerStatus,
      sandbox: isSandbox,
      request: preview && withoutDefaults({ method, url, headers, bodyJson }),
      faults: faults.map(({ pointer, message, givenJson, missing }) =>
        withoutDefaults({ pointer, message, givenJson, missing }),
      ),
      replayed: isReplay,
      jobId,
    }),
    // The result is parsed without loss of digits, because some apps use integer ids with more digits than a double can hold.
    ...(json !== "" && { result: parseExactJson(json) }),
  };
}

/**
 * Returns the fields of an object without those that are empty, 0, false or absent. So agents get the same fields as in the JSON form of
 * API messages, which omits these values as well.
 */
function withoutDefaults(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const isSet = (value: unknown) =>
    typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isSet(value)));
}

/** Returns the message of a result. In svc's own text, API names are replaced by the agents' tool names; an app's text is unchanged. */
function messageOf({ outcome, message }: CallResult): string {
  return ownOutcomes.has(outcome) ? spoken(message) : message;
}

const ownOutcomes: ReadonlySet<string> = new Set([
  "no_account",
  "account_unusable",
  "missing_scope",
  "not_bound",
  "not_callable",
]);

/** Returns the answer of a call of the tool `slug` as texts for a model. */
export function callTexts(
  slug: string,
  { answer, shown, hints }: { readonly answer: CallAnswer; readonly shown: ShownResult; readonly hints: CallHints },
): string[] {
  const { outcome, preview } = answer.result;
  if (outcome === "held") return [answer.isForPerson ? personalText(slug, answer) : heldText(slug, preview, hints)];
  if (outcome !== "ok") return [failureText(answer.result)];
  if (preview !== undefined) return [`Nothing was sent. This would be:\n${requestText(preview)}`];
  const notes = [
    ...shown.warnings.map((warning) =>
      warning.startsWith("truncated:") ? `${warning}. To get the rest ${hints.rest}` : warning,
    ),
    ...(answer.isSandbox ? ["sandbox: the result is made up; no app was called"] : []),
    ...(answer.isReplay ? ["replayed: the answer of the first call with this idempotency_key; nothing was sent"] : []),
  ];
  return notes.length === 0 ? [shown.json] : [shown.json, notes.map((note) => `Note: ${note}`).join("\n")];
}

function heldText(slug: string, request: RequestPreview | undefined, { confirm, unbuilt }: CallHints): string {
  const shown =
    request === undefined
      ? `The request cannot be built yet: ${unbuilt}.`
      : `This would be sent:\n${requestText(request)}`;
  return `Held: ${slug} is destructive, and nothing was sent.\n${shown}\nIf the user agrees to it, ${confirm}.`;
}

function personalText(slug: string, { jobId, result: { preview } }: CallAnswer): string {
  const shown = preview === undefined ? "" : `\nThis would be sent:\n${requestText(preview)}`;
  const next =
    jobId === undefined
      ? "You cannot carry it out yourself."
      : `A person is asked. On the answer proceed, job ${jobId} sends it once. You cannot carry it out yourself: inform the user that it waits, and continue with something else.`;
  return `Held: ${slug} needs a person's confirmation, and nothing was sent.${shown}\n${next}`;
}

function failureText(result: CallResult): string {
  const { outcome, retryable, retryAfterMs, providerStatus } = result;
  const wait = retryAfterMs === undefined ? "" : ` in ${retryAfterMs / 1_000} s`;
  const status = providerStatus === 0 ? "" : ` (HTTP ${providerStatus})`;
  return `${outcome}${status}: ${messageOf(result)}\n${retryable ? `The same call may be sent again${wait}.` : adviceOf(outcome)}`;
}

function adviceOf(outcome: string): string {
  if (outcome === "outcome_unknown") return "It may have been executed: find out before you send it again.";
  if (outcome === "no_account") return "An account is connected by the application and its user, not by a tool.";
  return "The same call would fail again.";
}

/** Maximum number of characters of a request's body in the text that shows the request. */
const bodyTextMax = 2_000;

function requestText({ method, url, headers, body }: RequestPreview): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url}`, ...lines, ...(body === "" ? [] : [cutText(body, bodyTextMax)])].join("\n");
}

/** Returns a tool as data, with the fields of the answer of GetTool except `phrases`. Schemas are objects, not JSON text. */
export function toolData(tool: Tool): Record<string, unknown> {
  const message = toJson(ToolSchema, tool, { alwaysEmitImplicit: true }) as JsonObject;
  const { inputSchemaJson: _, outputSchemaJson: __, pagingJson: ___, pollJson: ____, ...facts } = message;
  // Agents need no search phrases, because they have found the tool.
  const { uncallableReason, replacedBy, state, phrases: _____, ...rest } = facts;
  const schemas = { inputSchema: JSON.parse(tool.inputSchemaJson), outputSchema: JSON.parse(tool.outputSchemaJson) };
  return {
    ...rest,
    ...schemas,
    ...(uncallableReason !== "" && { uncallableReason }),
    ...(replacedBy !== "" && { replacedBy }),
    ...(state !== "" && { state }),
    ...(tool.pagingJson !== "" && { paging: JSON.parse(tool.pagingJson) }),
    ...(tool.pollJson !== "" && { poll: JSON.parse(tool.pollJson) }),
  };
}

/** Returns a tool as text for a model. */
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
