import type { Id } from "@svc/core";
import type { CallResult } from "../outcome.ts";
import type { BoundRefusal } from "./find/bind.ts";
import type { EarlierOutcome, KeyRefusal } from "./gate/keyed-call.ts";

/**
 * The reply to a call that was stopped by a call limit of the project, or by a rate limit in the definition of the app's toolkit. Nothing
 * was sent or recorded.
 */
export type LimitRefusal = {
  readonly outcome: "limited";
  /**
   * Name of the limit that stopped the call. If the rate limit in the definition of the app's toolkit stopped it, the name is `@` followed
   * by the toolkit's slug.
   */
  readonly limit: string;
  readonly isPaused: boolean;
  /**
   * Time in milliseconds after which the caller should try again. Jobs that wait for the same limit get different times, one after the
   * other.
   */
  readonly retryAfterMs: number;
};

/** Answer of a call. `callId` is undefined for a dry run, because dry runs are not recorded. */
export type CallAnswer = {
  readonly callId: Id<"call"> | undefined;
  readonly result: CallResult;
  readonly isSandbox: boolean;
  /** True if this is the stored answer of an earlier call with the same idempotency key. False if the call was made now. */
  readonly isReplay: boolean;
  /** True if only a person can confirm the call; the argument `confirm` has no effect. False or undefined if the caller can confirm it. */
  readonly isForPerson?: boolean | undefined;
  /** Name that identifies the call to confirm. Set if the caller must ask its own user. */
  readonly askFor?: string | undefined;
  /** Job that asks a person to confirm the call. Undefined if no job was started. */
  readonly jobId?: Id<"job"> | undefined;
};

/**
 * All expected outcomes of a call:
 * - `answered`: the call ended; its result says how.
 * - `held`: nothing was sent, because the call needs confirmation.
 * - `in_progress`: the first call with the idempotency key is still running.
 * - `key_reused`: the idempotency key was used for a different call.
 * - `limited`: a call limit is full or paused.
 * - `refused`: the call is outside the caller's access scope.
 * - `no_such_tool`: the project sees no tool with this slug. `meant`: the slug of the most similar tool that the project sees.
 */
export type CallReply =
  | { readonly outcome: "answered" | "held"; readonly answer: CallAnswer }
  | KeyRefusal
  | LimitRefusal
  | BoundRefusal
  | { readonly outcome: "no_such_tool"; readonly toolSlug: string; readonly meant: string | undefined };

/**
 * Returns the outcome of a call for its caller. It is `held` if the call waits for a confirmation, and `answered` for every other answer.
 */
export function replyOf(answer: CallAnswer): CallReply {
  return { outcome: answer.result.outcome === "held" ? "held" : "answered", answer };
}

/** Returns the reply to a call whose idempotency key was already used by an earlier call. */
export function replyOfEarlier(earlier: EarlierOutcome): CallReply {
  if (earlier.outcome !== "ended") return earlier;
  const { callId, result, isSandbox } = earlier;
  return replyOf({ callId, result, isSandbox, isReplay: true });
}
