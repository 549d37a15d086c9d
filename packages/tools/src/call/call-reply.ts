import type { Id } from "@svc/core";
import type { CallResult } from "../outcome.ts";
import type { BoundRefusal } from "./find/bind.ts";
import type { EarlierOutcome, KeyRefusal } from "./gate/keyed-call.ts";

/** What a call meets that may not go for a call limit of the project, or its toolkit's own rate. Nothing was sent, or recorded. */
export type LimitRefusal = {
  readonly outcome: "limited";
  /** The limit's name; of a toolkit's own rate `@` and its slug. */
  readonly limit: string;
  readonly isPaused: boolean;
  /** When to ask again; a job's turns are given out one after the other. */
  readonly retryAfterMs: number;
};

/** What came of it. `callId` is undefined for dry runs, which leave no trace. */
export type CallAnswer = {
  readonly callId: Id<"call"> | undefined;
  readonly result: CallResult;
  readonly isSandbox: boolean;
  /** Whether this is what an earlier call with the same idempotency key was answered. */
  readonly isReplay: boolean;
  /** Whether a held call is confirmed by a person, whatever its arguments say. */
  readonly isForPerson?: boolean | undefined;
  /** What the person's yes is good for, where the caller asks the person itself. */
  readonly askFor?: string | undefined;
  /** The job that asks the person. */
  readonly jobId?: Id<"job"> | undefined;
};

/**
 * What is to be expected of a call. `answered`: its result says what came of it. `held`: nothing was sent, since it is destructive
 * and not confirmed, or a person is asked first. `in_progress`: the first call of the idempotency key still runs. `key_reused`: the key was used for something
 * else. `limited`: a call limit is full, or paused. `refused`: its caller is bound, and it reaches beyond that. `no_such_tool`: the project sees none of that slug; `meant` is the nearest that it
 * does see.
 */
export type CallReply =
  | { readonly outcome: "answered" | "held"; readonly answer: CallAnswer }
  | KeyRefusal
  | LimitRefusal
  | BoundRefusal
  | { readonly outcome: "no_such_tool"; readonly toolSlug: string; readonly meant: string | undefined };

/** A call as it was answered. */
export function replyOf(answer: CallAnswer): CallReply {
  return { outcome: answer.result.outcome === "held" ? "held" : "answered", answer };
}

/** What a call is told that meets one made before under its idempotency key. */
export function replyOfEarlier({ isSandbox }: { readonly isSandbox: boolean }, earlier: EarlierOutcome): CallReply {
  if (earlier.outcome !== "ended") return earlier;
  const { callId, result } = earlier;
  return replyOf({ callId, result, isSandbox, isReplay: true });
}
