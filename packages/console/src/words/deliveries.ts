import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { type DeliveryTab, deliveryFilters } from "./delivery-filters.ts";
import { relativeWords } from "./time.ts";
import { unknownWord, type Word } from "./word.ts";

/** The states of a delivery (the values of `Delivery.state`). */
export const deliveryStates = ["pending", "delivered", "dead_letter"] as const;

/** One of the states of a delivery. */
export type DeliveryState = (typeof deliveryStates)[number];

const words: Record<DeliveryState, Word> = {
  pending: { word: "Waiting", tone: "info", icon: "clock", says: "Not sent yet." },
  delivered: { word: "Delivered", tone: "ok", icon: "check", says: "The endpoint answered 2xx." },
  dead_letter: {
    word: "Failed",
    tone: "bad",
    icon: "cross",
    says: "All attempts failed, or the endpoint was deleted. You can resend the event.",
  },
};

const retrying: Word = {
  ...{ word: "Retrying", tone: "warn", icon: "replay" },
  says: "An attempt failed. svc tries again.",
};

/**
 * Returns the word, colour and icon for the state of a delivery. `attempts`: number of attempts so far. `maxAttempts`: number of attempts
 * after which svc gives up; 0 if it is not known.
 */
export function deliveryWord({
  state,
  attempts,
  maxAttempts = 0,
}: {
  state: string;
  attempts: number;
  maxAttempts?: number;
}): Word {
  if (state !== "pending" || attempts === 0) return (words as Record<string, Word>)[state] ?? unknownWord(state);
  return maxAttempts === 0 ? retrying : { ...retrying, word: `Retrying (${attempts} of ${maxAttempts})` };
}

const filterWords: Record<DeliveryTab, string> = {
  failed: "retrying or failed",
  pending: "waiting or retrying",
  retrying: "retrying",
  delivered: "delivered",
  dead_letter: "failed",
};

/** The values of the filter of deliveries, as options of a field. */
export const deliveryFilterOptions: readonly { value: string; words: string }[] = deliveryFilters.map((value) => ({
  value,
  words: filterWords[value],
}));

/**
 * Returns how many deliveries of an event are in each state. States that need action come first. If `more` is set, the numbers are minimums
 * (for example `20+`).
 */
export function deliveryCountWords(counts: {
  pending: number;
  delivered: number;
  deadLetter: number;
  more: boolean;
}): readonly Word[] {
  const { pending, delivered, deadLetter, more } = counts;
  const of = { dead_letter: deadLetter, pending, delivered };
  return (Object.keys(of) as (keyof typeof of)[]).flatMap((state) =>
    of[state] === 0
      ? []
      : [{ ...words[state], word: `${of[state]}${more ? "+" : ""} ${words[state].word.toLowerCase()}` }],
  );
}

/**
 * Sentences for the error codes of failed attempts (`DeliveryAttempt.error`). Sentences for HTTP statuses are made from the status instead.
 */
const errors: Record<string, string> = {
  timeout: "The endpoint did not answer in time.",
  connection_refused: "The endpoint refused the connection.",
  connection_reset: "The endpoint closed the connection before it answered.",
  connection_closed: "The endpoint closed the connection before it answered.",
  dns_not_found: "The endpoint's host name does not exist.",
  dns_unavailable: "The name servers did not answer.",
  host_unreachable: "The endpoint's address is not reachable.",
  network_unreachable: "The endpoint's network is not reachable.",
  network_error: "The connection to the endpoint failed.",
  http_malformed: "The endpoint's answer was not HTTP.",
  headers_too_large: "The headers of the endpoint's answer are larger than 256 KiB.",
  address_refused: "The endpoint's host name has an address to which this deployment does not deliver.",
  subscription_inactive: "The endpoint was turned off or deleted first.",
  tls_error: "The endpoint's certificate was not accepted.",
  auth_failed: "No access token could be fetched for the endpoint.",
  body_invalid: "The body could not be made from the event.",
};

/** Words for attempts without an HTTP answer, by the error code. */
const attemptWords: Record<string, string> = {
  timeout: "Timed out",
  tls_error: "Certificate refused",
  address_refused: "Address refused",
  subscription_inactive: "Not sent",
  auth_failed: "Not sent",
  body_invalid: "Not sent",
};

/** Returns the sentence for the error code of a failed attempt. Empty if there is no code. */
export function attemptErrorWords(error: string): string {
  if (error === "") return "";
  const code = error.split(/[\s:]/, 1)[0] ?? "";
  const status = /^http_(\d{3})$/.exec(code)?.[1];
  if (status !== undefined) return `The endpoint answered ${status}.`;
  return errors[code] ?? error;
}

/** Returns the word for how an attempt ended: the HTTP status of the answer, or why there was no answer. */
export function attemptWord(error: string, statusCode: number): Word {
  const says = error === "" ? "The endpoint accepted the delivery." : attemptErrorWords(error);
  if (error === "") return { word: String(statusCode), tone: "ok", icon: "check", says };
  return {
    word: statusCode === 0 ? (attemptWords[error.split(/[\s:]/, 1)[0] ?? error] ?? "No answer") : String(statusCode),
    tone: "bad",
    icon: "cross",
    says,
  };
}

/** The properties of a delivery that say what happens next. */
type NextOfDelivery = {
  readonly state: string;
  readonly attempts: number;
  readonly lastError: string;
  readonly nextAttemptAt?: Timestamp | undefined;
  readonly waitingReason: string;
};

/**
 * Returns the text for a delivery's row: its last error, and for a pending delivery the reason why it waits. `now`: in epoch milliseconds.
 */
export function deliveryWhy(
  { state, attempts, lastError, nextAttemptAt, waitingReason }: NextOfDelivery,
  now: number,
): string {
  const failure = state === "delivered" ? "" : attemptErrorWords(lastError);
  if (waitingReason === "restored")
    return `${failure} Waiting: the database was restored from a backup, and an administrator has to resume it.`.trim();
  if (state !== "pending" || nextAttemptAt === undefined) return failure;
  const when = whenWords(nextAttemptAt, now);
  if (isHeldBack({ waitingReason })) return `${failure} Waiting: the endpoint is failing. Next test ${when}.`.trim();
  if (waitingReason === "paced")
    return `${failure} Waiting: the endpoint receives deliveries at a limited rate. Next attempt ${when}.`.trim();
  const attempt = attempts === 0 ? "First attempt" : "Next attempt";
  return `${failure} ${attempt} ${when}.`.trim();
}

/**
 * Returns when the next attempt of a delivery starts, or why there is none. Empty if the delivery is delivered. `now`: in epoch
 * milliseconds.
 */
export function nextWords(
  { state, attempts, lastError, nextAttemptAt, waitingReason }: NextOfDelivery,
  now: number,
): string {
  if (state === "delivered") return "";
  if (state !== "pending") return endWords(lastError);
  if (waitingReason === "restored") return "after the restore";
  if (nextAttemptAt === undefined) return "";
  const when = whenWords(nextAttemptAt, now);
  if (!isHeldBack({ waitingReason })) return when;
  return attempts === 0 ? "after the test" : `test ${when}`;
}

function whenWords(at: Timestamp, now: number): string {
  const dueAt = timestampMs(at);
  return dueAt <= now ? "now" : (relativeWords(dueAt, now) ?? "in more than a day");
}

function endWords(lastError: string): string {
  if (lastError.startsWith("http_410")) return "endpoint is gone";
  return lastError.startsWith("subscription_inactive") ? "endpoint is off" : "gave up";
}

/** True if a pending delivery waits because its endpoint is failing. svc sends only one delivery at a time to a failing endpoint. */
export function isHeldBack({ waitingReason }: { waitingReason: string }): boolean {
  return waitingReason === "endpoint_failing";
}
