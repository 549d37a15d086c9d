import type { Action } from "@svc/catalog";
import { JsonTooLargeError, parseExactJson, readRetryAfter } from "@svc/core";
import { type CallResult, resultOf } from "../outcome.ts";
import { excerpt, excerptOfBody } from "./answer-text.ts";
import { readPayload, valueAt } from "./payload.ts";
import type { Redactor } from "./redact.ts";

/** An app's answer with its status. Header names are in lower case. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/**
 * Values that an answer is read of: checking, trimming and recording them takes a node's one thread a quarter of a second. The
 * 8 MiB of an answer could hold four million.
 */
const answerValuesMax = 200_000;

/** Longest wait that an app's Retry-After is granted. */
const retryAfterMaxMs = 3_600_000;

/** `isRepeatable`: the same request may be sent again without doing anything twice. `redact` goes over the app's own words. */
export type ReadOptions = { readonly isRepeatable: boolean; readonly nowMs: number; readonly redact: Redactor };

/**
 * Reads an answer by the tool's definition: status, error rule, unwrapping, trimming. An answer that does not have
 * the documented form is `ok` with a warning: a good write must not look failed.
 */
export function readAnswer(action: Action, answer: Answer, options: ReadOptions): CallResult {
  const { status } = answer;
  if (status === 429) return rateLimited(answer, options.nowMs);
  if (status < 200 || status > 299) return failed(action, answer, options);
  const body = parseBody(action, answer, options.redact);
  if ("fault" in body) {
    return resultOf({ outcome: "provider_error", providerStatus: status, message: body.fault });
  }
  const error = body.value === undefined ? undefined : errorOf(action, body.value, options.redact);
  if (error !== undefined) {
    return resultOf({
      outcome: "provider_error",
      providerStatus: status,
      message: `the app answered an error: ${error}`,
    });
  }
  return resultOf({ outcome: "ok", providerStatus: status, ...readPayload(action, body.value) });
}

function rateLimited(answer: Answer, nowMs: number): CallResult {
  const retryAfterMs = readRetryAfter(answer.headers["retry-after"], nowMs, retryAfterMaxMs);
  const wait = retryAfterMs === undefined ? "" : ` It asks to wait ${Math.ceil(retryAfterMs / 1000)} s.`;
  return resultOf({
    outcome: "rate_limited",
    providerStatus: answer.status,
    retryable: true,
    retryAfterMs,
    message: `the app takes no more calls for now (429); the call was not executed.${wait}`,
  });
}

function failed(action: Action, answer: Answer, { isRepeatable, nowMs, redact }: ReadOptions): CallResult {
  const { status } = answer;
  const text = excerptOfBody(action, answer.body, redact);
  return resultOf({
    outcome: "provider_error",
    providerStatus: status,
    retryable: isRepeatable && [500, 502, 503, 504].includes(status),
    retryAfterMs: readRetryAfter(answer.headers["retry-after"], nowMs, retryAfterMaxMs),
    message: `the app answered ${status}${text === "" ? "" : `: ${text}`}`,
  });
}

function parseBody(action: Action, { status, body }: Answer, redact: Redactor): { value: unknown } | { fault: string } {
  // A byte order mark is no JSON (RFC 8259, 8.1 lets parsers ignore it).
  const text = body.toString("utf8").replace(/^\ufeff/, "");
  if (text.trim() === "") return { value: undefined };
  try {
    return { value: parseExactJson(text, { valuesMax: answerValuesMax }) };
  } catch (error) {
    if (error instanceof JsonTooLargeError) {
      const most = answerValuesMax.toLocaleString("en");
      return { fault: `the app answered ${status} with more than ${most} values, which are not read; ask it for less` };
    }
    // The parser's own message quotes the answer; the excerpt says more.
    return {
      fault: `the app answered ${status} with what cannot be read as JSON: ${excerptOfBody(action, body, redact)}`,
    };
  }
}

/** The app's own words for an error inside a 2xx answer; undefined when it is none. */
function errorOf(action: Action, body: unknown, redact: Redactor): string | undefined {
  const { error } = action.response;
  if (error === undefined) return undefined;
  const isError =
    error.path === undefined
      ? valueAt(body, error.unless ?? "") !== true
      : (valueAt(body, error.path) ?? undefined) !== undefined;
  if (!isError) return undefined;
  const message = error.message === undefined ? undefined : valueAt(body, error.message);
  if (typeof message === "string") return excerpt(message, redact);
  return excerptOfBody(action, Buffer.from(JSON.stringify(body)), redact);
}
