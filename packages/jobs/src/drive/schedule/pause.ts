import type { Change, Edit } from "../../state/change.ts";
import type { JobRequest, JobState } from "../../state/job.ts";
import { isParkable } from "../../state/statuses.ts";
import { hold, never, release } from "./park.ts";

/** Whether a job that is to be paused stands where it is parked for that: where it would otherwise be driven. */
export function isPausable({ pause, status }: JobState): boolean {
  return pause !== undefined && isParkable(status);
}

/** Parks a job that is to be paused. Its deadline's clock stands since it was asked for. Throws an Error where that cannot be. */
export function pauseNow(state: JobState, nowMs: number): Change {
  const { pause } = state;
  if (pause === undefined) throw new Error("nobody asked to pause the job");
  const { edits, next } = hold(state, { reason: "paused", chain: pause.chain }, nowMs);
  return { edits: [...edits, clockStops(pause)], next };
}

/** What the request changes of a job that waits already: it keeps its park, and its deadline's clock stands. */
export function pauseWaiting({ park }: JobState, pause: JobRequest): Change {
  return { edits: [clockStops(pause)], next: { kind: "until", atMs: park?.wakeAt ?? never } };
}

/** Takes a paused job back to where it stood, due at once; one that waits otherwise goes on waiting. Undoing has no deadline. */
export function resumeNow(state: JobState, chain: readonly string[], nowMs: number): Change {
  const { park } = state;
  if (park?.reason !== "paused") return { edits: [clockRuns], next: { kind: "until", atMs: park?.wakeAt ?? never } };
  const { edits, next } = release(state, { chain, reason: "resumed" }, nowMs);
  return { edits: park.before?.status === "compensating" ? edits : [...edits, clockRuns], next };
}

/** The deadline's clock stands since a pause was asked for. */
export function clockStops({ atMs }: JobRequest): Edit {
  return { kind: "deadline", clock: "stops", sinceMs: atMs };
}

const clockRuns: Edit = { kind: "deadline", clock: "runs" };
