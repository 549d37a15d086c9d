import type { Action } from "@svc/catalog";
import type { AppAnswer } from "@svc/connections";
import {
  displayText,
  JsonTooLargeError,
  parseExactJson,
  readForeignText,
  readRetryAfter,
  scalarText,
  singleLine,
} from "@svc/core";
import { type CallResult, resultOf } from "../../outcome.ts";
import { maskNames, sensitiveNames } from "../redact/mask.ts";
import type { Redactor } from "../redact/redact.ts";
import { readPayload, valueAt } from "./payload.ts";

const excerptMax = 1000;
/** Maximum number of characters at the start of an app's text from which svc makes an excerpt to show. The rest of the text is not used. */
const readMax = 65_536;
const bytesPerUnit = 3;
/**
 * Maximum number of values in an error answer whose sensitive values must be masked. `maskedBytesMax`: maximum size of such an answer in
 * bytes. A larger answer is not shown, because masking must read all of it.
 */
const valuesMax = 10_000;
const maskedBytesMax = 524_288;

/**
 * Returns an app's text in a form that people may see: without secrets, shortened, and without control characters, which would break
 * terminals, logs and database rows.
 */
function excerpt(text: string, redact: Redactor): string {
  const shown = singleLine(redact(text.slice(0, readMax)))
    .trim()
    .toWellFormed();
  return shown.length > excerptMax ? `${shown.slice(0, excerptMax).toWellFormed()} ...` : shown;
}

/**
 * Returns an app's text about a failure in a form that people may see. In a JSON answer, values under the tool's sensitive names are
 * masked.
 */
function excerptOfBody(
  action: Action,
  { body, contentType }: { readonly body: Buffer; readonly contentType?: string | undefined },
  redact: Redactor,
): string {
  const names = sensitiveNamesOf(action);
  if (names.size > 0 && body.byteLength > maskedBytesMax) return "";
  const bytesMax = bytesPerUnit * readMax;
  const isCut = names.size === 0 && body.byteLength > bytesMax;
  const { text, isLossy } = displayText(isCut ? body.subarray(0, bytesMax) : body, { contentType, isCut });
  const shown = names.size === 0 ? excerpt(text, redact) : maskedExcerpt(names, text, redact);
  return isLossy ? `${shown} (not all of it is text: some bytes are shown as \ufffd)` : shown;
}

function maskedExcerpt(names: ReadonlySet<string>, text: string, redact: Redactor): string {
  try {
    return excerpt(JSON.stringify(maskNames(names, parseExactJson(text, { valuesMax }))), redact);
  } catch (error) {
    if (error instanceof JsonTooLargeError) return "";
    // The body is not JSON, so it has no field names to mask.
    return excerpt(text, redact);
  }
}

const namesOfActions = new WeakMap<Action, ReadonlySet<string>>();

function sensitiveNamesOf(action: Action): ReadonlySet<string> {
  let names = namesOfActions.get(action);
  if (names === undefined) {
    names = new Set([...sensitiveNames(action.inputSchema), ...sensitiveNames(action.outputSchema)]);
    namesOfActions.set(action, names);
  }
  return names;
}

type Answer = Omit<AppAnswer & { readonly kind: "answer" }, "kind">;

/**
 * Maximum number of values that are read from an answer. Checking, trimming and recording this many values takes a quarter of a second of a
 * node's one thread. Without the limit, an answer of 8 MiB could contain four million values.
 */
const answerValuesMax = 200_000;

/** Maximum wait accepted from an app's Retry-After, milliseconds. */
const retryAfterMaxMs = 3_600_000;

/** Start of the message for a 2xx answer that reports an error, by the error rule of the tool's definition. */
export const errorAnswerStart = "the app answered an error";

/**
 * Options of reading an answer. `isRepeatable`: true if the same request can be sent again without a second effect. `redact`: removes
 * secrets from the app's text.
 */
export type ReadOptions = { readonly isRepeatable: boolean; readonly nowMs: number; readonly redact: Redactor };

/**
 * A tool's result, read from the app's answer. `source`: the text of the answer's body, if every text and name of the result occurs in it.
 * `lackedScopes`: OAuth scopes that the app wants and the account was not granted.
 */
export type ReadResult = CallResult & {
  readonly source?: string | undefined;
  readonly lackedScopes?: readonly string[] | undefined;
};

/**
 * Reads an app's answer by the rules of the tool's definition: the status, the rule that recognizes errors, and the path of the result.
 * Removes undeclared fields. An answer without the documented form has the outcome `ok` and a warning, because a successful write must not
 * look failed. It pauses repeatedly while it reads a large answer, so that other work can run.
 */
export function* readAnswer(action: Action, answer: Answer, options: ReadOptions): Generator<undefined, ReadResult> {
  const { status } = answer;
  if (status === 429) return rateLimited(answer, options.nowMs);
  const scopes = status === 403 ? neededScopes(answer) : undefined;
  if (scopes !== undefined) return scopeless(answer, scopes, options.redact);
  if (status < 200 || status > 299) return failed(action, answer, options);
  const body = parseBody(action, answer, options.redact);
  if ("fault" in body) return unread(action, status, body.fault);
  yield;
  const error = body.value === undefined ? undefined : errorOf(action, body.value, options.redact);
  if (error !== undefined) {
    return resultOf({
      outcome: "provider_error",
      providerStatus: status,
      message: `${errorAnswerStart}${error}`,
    });
  }
  const { isWhollyInBody, ...payload } = yield* readPayload(action, body.value);
  const { images, warnings = [] } = answer;
  const read = { ...payload, ...(images && { images }), warnings: [...payload.warnings, ...warnings] };
  const result = resultOf({ outcome: "ok", providerStatus: status, ...read });
  return isWhollyInBody ? { ...result, source: body.text } : result;
}

function rateLimited(answer: Answer, nowMs: number): CallResult {
  const retryAfterMs = readRetryAfter(answer.headers["retry-after"], nowMs, retryAfterMaxMs);
  const wait = retryAfterMs === undefined ? "" : ` It asks to wait ${Math.ceil(retryAfterMs / 1000)} s.`;
  return resultOf({
    outcome: "rate_limited",
    providerStatus: answer.status,
    retryable: true,
    retryAfterMs,
    message: `the app accepts no more calls for now (429); the call was not executed.${wait}`,
  });
}

/** Returns the scopes that an app names in its challenge `insufficient_scope` (RFC 6750); undefined without this challenge. */
function neededScopes({ headers }: Answer): readonly string[] | undefined {
  const challenge = (headers["www-authenticate"] ?? "").slice(0, challengeMax);
  if (!/\bBearer\b/i.test(challenge) || !/\berror\s*=\s*"?insufficient_scope\b/i.test(challenge)) return undefined;
  const [, quoted, bare = ""] = /\bscope\s*=\s*(?:"([^"]*)"|([^\s,"]+))/i.exec(challenge) ?? [];
  return (quoted ?? bare).split(" ").filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(scope));
}

/** Maximum characters of a challenge that are read, and maximum scopes that a message names. */
const [challengeMax, scopesMax] = [8_192, 20];

function scopeless({ status }: Answer, scopes: readonly string[], redact: Redactor): ReadResult {
  // A scope that contains a secret of the call is not recorded.
  const lackedScopes = scopes.filter((scope) => redact(scope) === scope).slice(0, scopesMax);
  const named = lackedScopes.length === 0 ? "a scope" : lackedScopes.join(", ");
  const message = `the app wants ${named}, which the account was not granted; connect it again and grant that`;
  return { ...resultOf({ outcome: "missing_scope", providerStatus: status, message }), lackedScopes };
}

function failed(action: Action, answer: Answer, { isRepeatable, nowMs, redact }: ReadOptions): CallResult {
  const { status } = answer;
  const { body, headers, unreadable } = answer;
  const contentType = headers["content-type"];
  const text =
    unreadable === undefined ? excerptOfBody(action, { body, contentType }, redact) : `its body ${unreadable}`;
  return resultOf({
    outcome: "provider_error",
    providerStatus: status,
    retryable: isRepeatable && [500, 502, 503, 504].includes(status),
    retryAfterMs: readRetryAfter(answer.headers["retry-after"], nowMs, retryAfterMaxMs),
    message: `the app answered ${status}${text === "" ? "" : `: ${text}`}`,
  });
}

/**
 * Returns the result of a tool call that the app answered with a 2xx status and an unreadable body. A read has failed. A write is `ok`
 * without a result; it is `outcome_unknown` if the app reports errors in such bodies. `what`: says in the message what is wrong with the
 * body.
 */
export function unread(action: Action, status: number, what: string): CallResult {
  if (action.class === "read")
    return resultOf({
      outcome: "provider_error",
      providerStatus: status,
      message: `the app answered ${status} ${what}`,
    });
  if (action.response.error === undefined) {
    const warning = `output_mismatch: the app took the call and answered ${status} ${what}. Nothing of it is in the result.`;
    return resultOf({ outcome: "ok", providerStatus: status, value: {}, warnings: [warning] });
  }
  return resultOf({
    outcome: "outcome_unknown",
    providerStatus: status,
    message: `the app answered ${status} ${what}. The answer would say whether the call failed. Look in the app before repeating it: a second try may do it twice.`,
  });
}

/** Maximum number of characters in an answer that is plain text and not JSON. An answer with a longer text cannot be read. */
const textMax = 1_048_576;

/** Returns the body of an answer that is not JSON as an object with the member `text`. */
function textBody(text: string): ReadBody | { fault: string } {
  if (text.length <= textMax) return { value: { text: text.toWellFormed() }, text: JSON.stringify({ text }) };
  return { fault: `with a text of more than ${textMax.toLocaleString("en")} characters; ask it for less` };
}

/** The value of a body; undefined for an empty body. `text`: the JSON text of the body. */
type ReadBody = { readonly value: unknown; readonly text: string };

function parseBody(action: Action, answer: Answer, redact: Redactor): ReadBody | { fault: string } {
  const { body, headers, unreadable } = answer;
  if (unreadable !== undefined) return { fault: `with a body that ${unreadable}` };
  const contentType = headers["content-type"];
  const read = readForeignText(body, contentType);
  if ("fault" in read) return { fault: `with a body that ${read.fault}` };
  if (action.response.as === "text") return textBody(read.text);
  if (read.text.trim() === "") return { value: undefined, text: "" };
  try {
    return { value: parseExactJson(read.text, { valuesMax: answerValuesMax }), text: read.text };
  } catch (error) {
    if (error instanceof JsonTooLargeError) {
      const most = answerValuesMax.toLocaleString("en");
      return { fault: `with more than ${most} values, which is too many to read; ask it for less` };
    }
    // The parser's own message is not used: it quotes the answer, and the excerpt below contains more information.
    return {
      fault: `with a body that cannot be read as JSON: ${excerptOfBody(action, { body, contentType }, redact)}`,
    };
  }
}

/** Returns the app's error code and text from a 2xx answer, such as `: not yours`; undefined if the answer is not an error. */
function errorOf(action: Action, body: unknown, redact: Redactor): string | undefined {
  const { error } = action.response;
  if (error === undefined) return undefined;
  const isError =
    error.path === undefined
      ? valueAt(body, error.unless ?? "") !== true
      : (valueAt(body, error.path) ?? undefined) !== undefined;
  if (!isError) return undefined;
  const message = error.message === undefined ? undefined : valueAt(body, error.message);
  const words =
    typeof message === "string"
      ? excerpt(message, redact)
      : excerptOfBody(action, { body: Buffer.from(JSON.stringify(body)) }, redact);
  return `${codeOf(error.code, body, redact)}: ${words}`;
}

/** Returns the app's error code in parentheses. Empty if the definition names no code, or if the answer has none of a usual form. */
function codeOf(path: string | undefined, body: unknown, redact: Redactor): string {
  const code = path === undefined ? "" : excerpt(scalarText(valueAt(body, path)) ?? "", redact);
  return /^[^()\s]{1,64}$/.test(code) ? ` (${code})` : "";
}
