import type { ParkDocument } from "@svc/db/documents/jobs";
import type { Change } from "../../state/change.ts";
import { stepAt } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import { isParkable } from "../../state/statuses.ts";

/** Why a job is parked from outside its program: it harmed the service, or an administrator holds it. */
export type HoldReason = Extract<ParkDocument["reason"], "poisoned" | "administrator">;

/** True if the reason is one of a park from outside. */
export function isHoldReason(reason: ParkDocument["reason"] | undefined): reason is HoldReason {
  return reason === "poisoned" || reason === "administrator";
}

/** A park from outside: its reason and cause, and the text for `lastError`; undefined leaves that unchanged. */
export type Hold = {
  readonly reason: HoldReason | "paused";
  readonly chain: readonly string[];
  readonly lastError?: string;
};

/** The cause of a park by the service itself. */
const byService: readonly string[] = ["service"];

/** Due time of a task that only a request makes due. */
export const never = Date.UTC(9999, 0);

/**
 * Parks a job until it is released, cancelled or expired. Its deadline's clock continues, because the program did not ask for this wait.
 * The run task stays, due at that deadline, so that its lease tokens keep growing and a token of a hung driver is never issued again.
 * Throws an Error for a status that cannot be parked from outside.
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

/** A held job that is read stays held. */
export const waitForRelease: Change = { edits: [], next: { kind: "until", atMs: never } };

/** Returns a held job to its earlier state, due at once. Throws an Error for a job that is not held. */
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

/** Holds a job that took down or stalled its drivers. */
export function holdAfterLosses(state: JobState, losses: number, nowMs: number): Change {
  const lastError = `JOB_POISONED: ${losses} nodes in a row lost their lease of the job before it got on`;
  return hold(state, { reason: "poisoned", chain: byService, lastError }, nowMs);
}

/** Returns the park of a job that held its node's event loop again. */
export function afterLoopHold(holds: number, ms: number): Hold {
  const lastError = `JOB_POISONED: the job held the event loop of its node ${holds} times, at last for ${Math.round(ms)} ms`;
  return { reason: "poisoned", chain: byService, lastError };
}

/** Returns the step that a job has begun, or the next one. Empty at its end. */
function stepAtHand({ undo, positions, loaded }: JobState): string {
  if (undo !== undefined) return undo.stepId;
  const [position] = positions;
  if (position === undefined) return "";
  return position.progress?.stepId ?? stepAt(loaded.flow, position.index)?.step.id ?? "";
}
