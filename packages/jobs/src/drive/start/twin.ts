import type { Work } from "../../state/apply.ts";
import type { Change } from "../../state/change.ts";
import { keptOfPlan } from "../../state/confirmed.ts";
import type { JobState } from "../../state/job.ts";
import { requestConfirmation, requestPlanApproval } from "../ask/put-question.ts";
import type { Port } from "../port.ts";

/**
 * What follows for a job that is simulated first, once its twin has ended; undefined while it has not, and then the job is left: the
 * twin's end makes it due.
 */
export async function followTwin(work: Work, port: Port): Promise<Change | undefined> {
  const twin = await port.waitForTwin(work);
  if (twin.kind === "running") return undefined;
  const { status, lastError } = twin.kind === "ended" ? twin : { status: "", lastError: "the simulation is gone" };
  const payload = {
    simulationId: twin.kind === "ended" ? twin.id : "",
    status,
    outcome: twin.kind === "ended" ? twin.outcome : "",
  };
  const noted = { kind: "note", note: { type: "simulation-finished", stepId: "", payload } } as const;
  const { state } = work;
  if (status !== "succeeded") {
    return {
      edits: [noted, { kind: "lastError", message: `SIMULATION_FAILED: ${lastError}` }],
      next: { kind: "finish", status: "failed", reason: "simulation", chain: state.principalChain },
    };
  }
  const { needsApproval = false, confirmBy } = state.plan ?? {};
  if (needsApproval || confirmBy !== undefined) {
    const { edits, next } = await (needsApproval || confirmBy === undefined
      ? requestPlanApproval(state, port, "simulated", confirmBy)
      : requestConfirmation(state, port, confirmBy, "simulated"));
    return { edits: [noted, ...edits], next };
  }
  return {
    edits: [
      noted,
      { kind: "plan", plan: keptOfPlan(state.plan) },
      { kind: "move", to: "queued", reason: "simulated" },
      { kind: "deadline", clock: "runs" },
    ],
    next: { kind: "on" },
  };
}

/** Ends a job that somebody asked to end. What its calls did so far is undone first, where the program says so. */
export async function cancel(state: JobState, port: Port): Promise<Change> {
  const { status, saga, park, principalChain } = state;
  const chain = state.cancel?.chain ?? principalChain;
  if (status === "simulating") await port.cancelTwin(state, chain);
  // Undoing was stopped from outside, and a request to end does not begin it again: what is left of it is told.
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
