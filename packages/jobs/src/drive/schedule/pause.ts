import type { Change, Edit } from "../../state/change.ts";
import type { JobRequest, JobState } from "../../state/job.ts";
import { isParkable } from "../../state/statuses.ts";
import { hold, never, release } from "./park.ts";

/** True if a pause is requested and the job's status is one that can be parked (`queued`, `running` or `compensating`). False otherwise. */
export function isPausable({ pause, status }: JobState): boolean {
  return pause !== undefined && isParkable(status);
}

/**
 * Returns the change that parks a job because of a request to pause it. The time until the job's deadline stops at the time of the request.
 * Throws an Error if the job cannot be parked.
 */
export function pauseNow(state: JobState, nowMs: number): Change {
  const { pause } = state;
  if (pause === undefined) throw new Error("no request to pause the job exists");
  const { edits, next } = hold(state, { reason: "paused", chain: pause.chain }, nowMs);
  return { edits: [...edits, clockStops(pause)], next };
}

/**
 * Returns the change for a waiting job whose pause is requested. The job keeps waiting for the same reason and until the same time. From
 * the request on, the time until the job's deadline stands still.
 */
export function pauseWaiting({ park }: JobState, pause: JobRequest): Change {
  return { edits: [clockStops(pause)], next: { kind: "until", atMs: park?.wakeAt ?? never } };
}

/**
 * Returns the change that ends a pause of a job. A job that was suspended only by the pause gets its earlier status back and is due at
 * once. A job that waits for another reason keeps waiting. The time until the job's deadline runs again, except for a job that is being
 * undone.
 */
export function resumeNow(state: JobState, chain: readonly string[], nowMs: number): Change {
  const { park } = state;
  if (park?.reason !== "paused") return { edits: [clockRuns], next: { kind: "until", atMs: park?.wakeAt ?? never } };
  const { edits, next } = release(state, { chain, reason: "resumed" }, nowMs);
  return { edits: park.before?.status === "compensating" ? edits : [...edits, clockRuns], next };
}

/**
 * Returns the edit (a change to the job's state) after which the time until the job's deadline stands still. It stands still from the time
 * of the pause request on.
 */
export function clockStops({ atMs }: JobRequest): Edit {
  return { kind: "deadline", clock: "stops", sinceMs: atMs };
}

const clockRuns: Edit = { kind: "deadline", clock: "runs" };
