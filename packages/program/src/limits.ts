import { formatDuration } from "@svc/core";

/** Limits of a job, as its program declares them. */
export type Limits = {
  readonly deadlineMs: number;
  readonly toolCalls: number;
  readonly writes: number;
  readonly rows: number;
  readonly asks: number;
  readonly concurrency: number;
};

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Smallest and largest value that a program may use for a number, or for a duration in milliseconds. */
export type Bounds = { readonly min: number; readonly max: number };

/** The limits of a program that declares none. */
export const defaultLimits: Limits = {
  deadlineMs: dayMs,
  toolCalls: 10_000,
  writes: 1000,
  rows: 10_000,
  asks: 20,
  concurrency: 8,
};

/** Smallest and largest value that a program may set for each of its limits, such as its deadline and its number of calls. */
export const limitBounds: Readonly<Record<keyof Limits, Bounds>> = {
  deadlineMs: { min: 1000, max: 30 * dayMs },
  toolCalls: { min: 1, max: 1_000_000 },
  writes: { min: 0, max: 1_000_000 },
  rows: { min: 1, max: 1_000_000 },
  asks: { min: 0, max: 1000 },
  concurrency: { min: 1, max: 32 },
};

/** Smallest and largest allowed value of each duration in a program. */
export const durationBounds = {
  hop: { min: minuteMs, max: 30 * dayMs },
  wait: { min: 1000, max: 30 * dayMs },
  timeout: { min: 1000, max: 30_000 },
  retry: { min: 100, max: 60 * minuteMs },
} as const satisfies Readonly<Record<string, Bounds>>;

/** Default retry of calls: no retries (`max` 0). The other values are defaults for fields that a program's `retry` omits. */
export const defaultRetry = { max: 0, initialMs: 1000, factor: 2, capMs: minuteMs };

/** Timeout of a tool call or HTTP request for which a program sets no timeout, in milliseconds. */
export const defaultTimeoutMs = 30_000;

/**
 * Returns the message and the hint for a wait that ends after the job's deadline. The hint proposes a later deadline, one day longer than
 * necessary if the maximum allows it.
 */
export function beyondDeadline(waitMs: number, deadlineMs: number): readonly [message: string, hint: string] {
  const wanted = formatDuration(Math.min(waitMs + dayMs, limitBounds.deadlineMs.max));
  const hint = `shorten it, or write "limits": {"deadline": "${wanted}"}`;
  return [`is longer than the deadline of the job, ${formatDuration(deadlineMs)}`, hint];
}

/** Returns names as a list in a sentence, for example `a, b or c`. */
export function listed(names: readonly string[], word: "and" | "or"): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} ${word} ${last}`;
}
