import type { Change, Edit } from "../../state/change.ts";
import type { JobRequest, JobState } from "../../state/job.ts";
import { isParkable } from "../../state/statuses.ts";
import { hold, never, release } from "./park.ts";

/** True if a job that is to be paused is in a state where it would otherwise run, and so can be parked. */
export function isPausable({ pause, status }: JobState): boolean {
  return pause !== undefined && isParkable(status);
}

/** Parks a job that is to be paused. Its deadline's clock has been stopped since the request. Throws an Error if that is not possible. */
export function pauseNow(state: JobState, nowMs: number): Change {
  const { pause } = state;
  if (pause === undefined) throw new Error("nobody asked to pause the job");
  const { edits, next } = hold(state, { reason: "paused", chain: pause.chain }, nowMs);
  return { edits: [...edits, clockStops(pause)], next };
}

/** Returns the edits of a pause request for a waiting job: it keeps its park, and its deadline's clock stops. */
export function pauseWaiting({ park }: JobState, pause: JobRequest): Change {
  return { edits: [clockStops(pause)], next: { kind: "until", atMs: park?.wakeAt ?? never } };
}

/**
 * Returns a paused job to its earlier state, due at once. A job that waits for another reason continues to wait. Undoing has no deadline.
 */
export function resumeNow(state: JobState, chain: readonly string[], nowMs: number): Change {
  const { park } = state;
  if (park?.reason !== "paused") return { edits: [clockRuns], next: { kind: "until", atMs: park?.wakeAt ?? never } };
  const { edits, next } = release(state, { chain, reason: "resumed" }, nowMs);
  return { edits: park.before?.status === "compensating" ? edits : [...edits, clockRuns], next };
}

/** Stops the deadline's clock at the time of the pause request. */
export function clockStops({ atMs }: JobRequest): Edit {
  return { kind: "deadline", clock: "stops", sinceMs: atMs };
}

const clockRuns: Edit = { kind: "deadline", clock: "runs" };
