import type { Id } from "@svc/core";
import type { NewJobEvent } from "@svc/db/jobs/record";

/**
 * The ids of an ask (a job's question to a person) that log entries about the ask contain. `pointId`: the id of the question's declaration
 * in the program.
 */
export type AskName = { readonly id: Id<"ask">; readonly stepId: string; readonly pointId: string };

/**
 * Returns a log entry about an ask. Its payload contains only the ask's ids, because the question may contain data that a step has read.
 */
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
