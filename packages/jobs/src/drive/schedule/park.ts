import type { ParkDocument } from "@svc/db/documents/jobs";
import type { Change } from "../../state/change.ts";
import { stepAt } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import { isParkable } from "../../state/statuses.ts";

/** Why svc or an administrator parked a job. `poisoned`: the job harmed the service. `administrator`: an administrator holds the job. */
export type HoldReason = Extract<ParkDocument["reason"], "poisoned" | "administrator">;

/** True if the reason is one of svc's or an administrator's parks. */
export function isHoldReason(reason: ParkDocument["reason"] | undefined): reason is HoldReason {
  return reason === "poisoned" || reason === "administrator";
}

/**
 * A park by svc or an administrator. `reason`: its reason. `chain`: its cause. `lastError`: the new text of the job's last error; if
 * undefined, that text stays unchanged.
 */
export type Hold = {
  readonly reason: HoldReason | "paused";
  readonly chain: readonly string[];
  readonly lastError?: string;
};

/** The cause of a park that svc itself makes. */
const byService: readonly string[] = ["service"];

/** Due time of a task that never becomes due by time. Only a request makes it due. */
export const never = Date.UTC(9999, 0);

/**
 * Returns the edits that park a job until it is released, cancelled or expired. The job's deadline clock continues, because the program did
 * not ask for this wait. The run task is kept and is due at the deadline. So its lease tokens keep growing, and the token of a hung driver
 * is never issued a second time. Throws an Error if a job with this status cannot be parked by svc or an administrator.
 */
export function hold(state: JobState, { reason, chain, lastError }: Hold, nowMs: number): Change {
  const { status } = state;
  if (!isParkable(status)) throw new Error(`a job that is ${status} is not parked from outside`);
  const before = { status, lastError: state.lastError };
  return {
    edits: [
      { kind: "move", to: "parked", reason, chain },
      { kind: "park", park: { reason, stepId: stepAtHand(state), since: nowMs, before } },
      ...(lastError === undefined ? [] : [{ kind: "lastError", message: lastError } as const]),
    ],
    next: waitForRelease.next,
  };
}

/** The change for a held job that a driver reads: the job stays held. */
export const waitForRelease: Change = { edits: [], next: { kind: "until", atMs: never } };

/** Returns the edits that bring a held job back to the state that it had before, due at once. Throws an Error if the job is not held. */
export function release(
  { park }: JobState,
  { chain, reason }: { readonly chain: readonly string[]; readonly reason: "released" | "resumed" },
  nowMs: number,
): Change {
  const before = park?.before;
  if (before === undefined) throw new Error("only a job that was parked from outside is released");
  return {
    edits: [
      { kind: "move", to: before.status, reason, chain },
      { kind: "lastError", message: before.lastError },
    ],
    next: { kind: "until", atMs: nowMs },
  };
}

/** Returns the edits that hold a job because it repeatedly ended or stalled its drivers. */
export function holdAfterLosses(state: JobState, losses: number, nowMs: number): Change {
  const lastError = `JOB_POISONED: ${losses} nodes in a row lost their lease of the job before it made progress`;
  return hold(state, { reason: "poisoned", chain: byService, lastError }, nowMs);
}

/** Returns the park of a job that held its node's event loop once too often. */
export function afterLoopHold(holds: number, ms: number): Hold {
  const lastError = `JOB_POISONED: the job blocked the event loop of its node ${holds} times, most recently for ${Math.round(ms)} ms`;
  return { reason: "poisoned", chain: byService, lastError };
}

/** Returns the step that a job has begun, or else its next step. Empty at the end of the job. */
function stepAtHand({ undo, positions, loaded }: JobState): string {
  if (undo !== undefined) return undo.stepId;
  const [position] = positions;
  if (position === undefined) return "";
  return position.progress?.stepId ?? stepAt(loaded.flow, position.index)?.step.id ?? "";
}
