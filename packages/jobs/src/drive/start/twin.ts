import type { Change } from "../../state/change.ts";
import type { JobState } from "../../state/job.ts";
import type { Port } from "../port.ts";

/**
 * Returns the change that ends a job because it was cancelled. If the program declares it for this case, the change first begins to undo the
 * job's calls.
 */
export async function cancel(state: JobState, port: Port): Promise<Change> {
  const { status, saga, park, principalChain } = state;
  const chain = state.cancel?.chain ?? principalChain;
  if (status === "simulating") await port.cancelTwin(state, chain);
  // The job was parked while it was being undone. Cancelling it does not continue the undo; the undo entries that are left stay visible.
  if (park?.before?.status === "compensating") {
    const left = { kind: "saga", saga: { state: "stuck" } } as const;
    return { edits: [left], next: { kind: "finish", status: "cancelled", reason: "cancelled", chain } };
  }
  const isStuck = saga.state === "stuck";
  if (status === "running" || (status === "parked" && !isStuck)) {
    return { edits: [], next: { kind: "end", cause: "cancelled", chain } };
  }
  const reason = isStuck ? "undo_stuck" : "cancelled";
  return { edits: [], next: { kind: "finish", status: "cancelled", reason, chain } };
}
