import { assertExhaustive } from "@svc/core";
import type { CallAnswer, Called } from "../call/called.ts";
import { toolFaults } from "../errors.ts";

/** The answer of a call that has one. Throws TOOL_NOT_FOUND, IDEMPOTENCY_KEY_REUSED, CALL_IN_PROGRESS, CALL_LIMIT and CALL_LIMIT_PAUSED for one that has none. */
export function answerOf(called: Called): CallAnswer {
  switch (called.outcome) {
    case "answered":
    case "held":
      return called.answer;
    case "in_progress":
      throw toolFaults.CALL_IN_PROGRESS(called.idempotencyKey);
    case "key_reused":
      throw toolFaults.IDEMPOTENCY_KEY_REUSED(called.idempotencyKey);
    case "limited": {
      const { limit, isPaused, retryAfterMs } = called;
      throw isPaused ? toolFaults.CALL_LIMIT_PAUSED(limit, retryAfterMs) : toolFaults.CALL_LIMIT(limit, retryAfterMs);
    }
    case "refused":
      throw called.refusal;
    case "no_such_tool":
      throw toolFaults.TOOL_NOT_FOUND("toolSlug", called.toolSlug, called.meant);
    default:
      return assertExhaustive(called);
  }
}
