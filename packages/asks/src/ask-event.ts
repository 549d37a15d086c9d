import type { Id } from "@svc/core";
import type { NewJobEvent } from "@svc/db/jobs/record";

/** What of an ask its log entries name. */
export type AskName = { readonly id: Id<"ask">; readonly stepId: string; readonly pointId: string };

/** An entry of the log about an ask. Its payload names the ask; it carries no text of the question: that may hold what a step read. */
export function askEvent(
  type: string,
  ask: AskName,
  payload: Readonly<Record<string, unknown>>,
  principalChain: readonly string[],
): NewJobEvent {
  return {
    type,
    stepId: ask.stepId,
    payload: JSON.stringify({ requestId: ask.id, pointId: ask.pointId, ...payload }),
    principalChain: [...principalChain],
  };
}
