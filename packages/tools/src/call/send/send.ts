import type { Action } from "@svc/catalog";
import type { AppAnswer, AppCall, AppRequest, AppTransport } from "@svc/connections";
import { type Clock, readRetryAfter } from "@svc/core";
import { type CallResult, resultOf } from "../../outcome.ts";
import { takesKey } from "../gate/idempotency.ts";
import { atOnce, inTurns, type Redactor } from "../redact/redact.ts";
import { type ReadResult, readAnswer, unread } from "./read-answer.ts";

/** Maximum duration of a call from the first time it is sent, milliseconds. */
export const callTimeoutMs = 30_000;

/** Dependencies of sending a request to an app. */
export type SendContext = { readonly transport: AppTransport; readonly clock: Clock };

/** The prepared request of a tool call, with the data that decide how and how often it is sent. */
export type SentRequest = {
  readonly request: AppRequest;
  readonly call: AppCall;
  /** True if the same call can be sent again without a second effect. False if a repeat could change something twice. */
  readonly repeatsAreSafe: boolean;
  /** Deadline of the call, epoch milliseconds. */
  readonly untilMs: number;
  /** Called before the request is sent a second time. Returns true if the limits of the call allow that. Undefined if no limit applies. */
  readonly mayRepeat?: (() => Promise<boolean>) | undefined;
  /** Removes secrets from the app's text. */
  readonly redact: Redactor;
  /** Lets the process do more urgent work before it reads the app's answer. */
  readonly turns: AnswerTurns;
};

/**
 * Permission to use the event loop for reading an answer, so that large answers do not delay other work. `begin`: called before any answer
 * is read; returns undefined if there is time now. `next`: awaited before each time slice of reading a large answer.
 */
type AnswerTurns = { begin(): Promise<void> | undefined; next(): Promise<void> };

/**
 * Sends the request of a tool call and returns its result before `untilMs`. It sends the request a second time in these cases:
 * - The call only reads, and the answer was 429, 502, 503 or 504, or the connection broke.
 * - The call writes, the connection broke, and the app takes an idempotency key.
 * - The request did not leave svc.
 */
export async function sendCall(context: SendContext, sending: SentRequest): Promise<ReadResult> {
  const answer = await answerOf(context, sending);
  const turn = sending.turns.begin();
  if (turn !== undefined) await turn;
  return resultOfAnswer(sending, answer, context.clock.now());
}

/**
 * Sends a request to the app, and sends it a second time if the first answer allows this (for example 503 for a read). Returns the second
 * answer. If a write was sent and the second answer says nothing about its outcome, returns the first answer.
 */
async function answerOf(context: SendContext, sending: SentRequest): Promise<AppAnswer> {
  const { transport, clock } = context;
  const { request, call, untilMs } = sending;
  const first = await transport.send(request, call, { timeoutMs: untilMs - clock.now() });
  const waitMs = secondTryAfter(call.action, first, clock.now());
  if (waitMs === undefined || untilMs - clock.now() - waitMs < secondTryMinMs) return first;
  await clock.wait(waitMs);
  const timeoutMs = untilMs - clock.now();
  // The time left is computed again, because the wait before the second try may have taken longer than planned.
  const mayRepeat = timeoutMs >= 1 && (await mayBeSentAgain(sending));
  const second = !mayRepeat ? first : await transport.send(request, call, { timeoutMs });
  return call.action.class !== "read" && wasSent(first) && !settles(second) ? first : second;
}

/**
 * Returns true if a request may be sent a second time, false if not. If the database is unavailable, returns false; the first answer is
 * then the result.
 */
async function mayBeSentAgain({ mayRepeat }: SentRequest): Promise<boolean> {
  return mayRepeat === undefined || mayRepeat().catch(() => false);
}

const pauseMs = 200;
/** Minimum time before the deadline for a second try, in milliseconds. With less time, the app would probably not answer. */
const secondTryMinMs = 1_000;
const patienceMs = 5_000;

/** Returns the wait before the second try, milliseconds; undefined if there is no second try. */
function secondTryAfter(action: Action, answer: AppAnswer, nowMs: number): number | undefined {
  if (answer.kind === "broken") {
    return !answer.sent || action.class === "read" || takesKey(action) ? pauseMs : undefined;
  }
  if (answer.kind === "unreachable") return pauseMs;
  if (answer.kind !== "answer" || action.class !== "read") return undefined;
  if (![429, 502, 503, 504].includes(answer.status)) return undefined;
  const asked = readRetryAfter(answer.headers["retry-after"], nowMs, Number.POSITIVE_INFINITY) ?? pauseMs;
  return asked <= patienceMs ? asked : undefined;
}

function wasSent(answer: AppAnswer): boolean {
  return (answer.kind === "broken" || answer.kind === "timeout") && answer.sent;
}

/**
 * Says if the answer to a repeated write shows the outcome of the write. The write was sent twice with the same idempotency key, because
 * the first request got no answer. Returns false for status 500 and above, and for 401, 403, 408, 409, 425 and 429: with these, the app has
 * not processed the second request, so the first may or may not have been executed.
 */
function settles(answer: AppAnswer): boolean {
  if (answer.kind === "too_large") return answer.status < 300;
  return answer.kind === "answer" && answer.status < 500 && ![401, 403, 408, 409, 425, 429].includes(answer.status);
}

/** Number of bytes above which an answer is read in time slices. Reading a smaller answer takes less than a millisecond. */
const atOnceMax = 65_536;

function resultOfAnswer(sending: SentRequest, answer: AppAnswer, nowMs: number): ReadResult | Promise<ReadResult> {
  const { repeatsAreSafe, redact, turns } = sending;
  const { action } = sending.call;
  switch (answer.kind) {
    case "answer": {
      const parts = readAnswer(action, answer, { isRepeatable: repeatsAreSafe, nowMs, redact });
      return answer.body.byteLength <= atOnceMax ? atOnce(parts) : inTurns(parts, turns.next);
    }
    case "too_large":
      return cutOff(action, answer, repeatsAreSafe);
    case "refused":
      return resultOf({ outcome: "unreachable", message: answer.message });
    case "withheld":
      return resultOf({ outcome: "not_callable", message: answer.message, isWithheld: true });
    case "unreachable":
      return resultOf({ outcome: "unreachable", retryable: true, message: answer.message });
    case "broken":
    case "timeout":
      return unanswered(action, answer, repeatsAreSafe);
  }
}

function cutOff(
  action: Action,
  { status, isBusy }: AppAnswer & { kind: "too_large" },
  repeatsAreSafe: boolean,
): CallResult {
  const what = isBusy
    ? "with more bytes than this service had memory for at that moment; the rest is cut off"
    : "with more than 8 MiB; the rest is cut off; ask it for less";
  if (status >= 200 && status < 300 && action.class !== "read") return unread(action, status, what);
  const message = `the app answered ${status} ${what}`;
  return resultOf({
    outcome: "provider_error",
    retryable: isBusy === true && repeatsAreSafe,
    providerStatus: status,
    message,
  });
}

function unanswered(
  action: Action,
  { kind, sent, message }: AppAnswer & { kind: "broken" | "timeout" },
  retryable: boolean,
): CallResult {
  if (!sent) return resultOf({ outcome: "unreachable", retryable: true, message });
  if (action.class === "read") {
    return resultOf({ outcome: kind === "timeout" ? "timeout" : "unreachable", retryable: true, message });
  }
  const advice = retryable
    ? "Repeating it with the same idempotency key is safe."
    : "Look in the app before repeating it: a second try may do it twice.";
  return resultOf({
    outcome: "outcome_unknown",
    retryable,
    message: `the call was sent and its answer never came (${message}); it may have been executed. ${advice}`,
  });
}
