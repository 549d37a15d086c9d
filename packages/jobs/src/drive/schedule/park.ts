import type { ParkDocument } from "@svc/db/documents/jobs";
import type { Change } from "../../state/change.ts";
import { stepAt } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import { isParkable } from "../../state/statuses.ts";

/** Why a job is parked (suspended). `poisoned`: nodes failed while they ran the job. `administrator`: an administrator parked the job. */
export type HoldReason = Extract<ParkDocument["reason"], "poisoned" | "administrator">;

/**
 * True if a job is parked because nodes failed while they ran it (`poisoned`), or by an administrator. Such a job waits until it is
 * released.
 */
export function isHoldReason(reason: ParkDocument["reason"] | undefined): reason is HoldReason {
  return reason === "poisoned" || reason === "administrator";
}

/**
 * Data for parking (suspending) a job at the request of svc, an administrator or a caller. `chain`: causes for the log. `lastError`: new
 * text of the job's last error; if undefined, the text does not change.
 */
export type Hold = {
  readonly reason: HoldReason | "paused";
  readonly chain: readonly string[];
  readonly lastError?: string;
};

/** The actor that the log names when svc itself parks a job (stops it until release). */
const byService: readonly string[] = ["service"];

/**
 * Due time, far in the future, for a task that does not become due by itself. Only a request (for example to release the job) makes it due.
 */
export const never = Date.UTC(9999, 0);

/**
 * Returns the change that parks a job (stops it) until it is released, cancelled or expired. The time until the job's deadline continues to
 * pass. The job's task is kept, so that its lease token (the number that identifies which node may write) only ever increases. A node that
 * hangs with an old token can then never write again. Throws an Error if a job with this status cannot be parked.
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

/**
 * The change for a job that an administrator must release and that is not released yet: the job's state stays as it is, and the job
 * continues to wait.
 */
export const waitForRelease: Change = { edits: [], next: { kind: "until", atMs: never } };

/**
 * Returns the change that makes a parked job (stored as waiting, with no node working on it) due at once. The job gets back the status and
 * the last error that it had before. Throws an Error if the job was parked by its own program, not by an outside request.
 */
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

/**
 * Returns the change that suspends a job with the reason `poisoned`. Nodes that ran the job repeatedly lost their lease (time-limited right
 * to run it) without progress, so the job may be harmful.
 */
export function holdAfterLosses(state: JobState, losses: number, nowMs: number): Change {
  const lastError = `JOB_POISONED: ${losses} nodes in a row lost their lease of the job before it made progress`;
  return hold(state, { reason: "poisoned", chain: byService, lastError }, nowMs);
}

/** Returns the data for parking a job that blocked its node's event loop too often. `ms`: duration of the last block. */
export function afterLoopHold(holds: number, ms: number): Hold {
  const lastError = `JOB_POISONED: the job blocked the event loop of its node ${holds} times, most recently for ${Math.round(ms)} ms`;
  return { reason: "poisoned", chain: byService, lastError };
}

/** Returns the id of the step that a job has begun, or else of its next step. Empty at the end of the job. */
function stepAtHand({ undo, positions, loaded }: JobState): string {
  if (undo !== undefined) return undo.stepId;
  const [position] = positions;
  if (position === undefined) return "";
  return position.progress?.stepId ?? stepAt(loaded.flow, position.index)?.step.id ?? "";
}
