import type { Job } from "@svc/gen/jobs";
import { JobStatus } from "@svc/gen/jobs";
import { hasEnded } from "../../words/jobs.ts";
import { programPart, undoneOn } from "./program.ts";

/** Returns the effects of cancelling a job, as sentences to read before confirming. */
export function cancelWords({ status, programJson, saga }: Pick<Job, "status" | "programJson" | "saga">): string[] {
  const first = "Running calls finish, and no new call starts. An open question is withdrawn.";
  if (status === JobStatus.COMPENSATING)
    return [first, "svc is already undoing changes. It finishes that, and the job then ends as cancelled."];
  const entries = saga?.entries ?? 0;
  if (!undoneOn(programJson).includes("cancelled")) {
    return [first, "Nothing is undone, because the program does not say so. Changes stay."];
  }
  if (entries === 0) return [first, "Changes that can be undone are undone. So far there are none."];
  return [
    first,
    `${entries === 1 ? "One call is" : `${entries} calls are`} undone, newest first, before the job ends.`,
  ];
}

/** Returns the actions that a job allows in its current state. The service makes the final check. */
export function actsOf({ status, pausedAt, mode, programJson, parentJobId }: Job) {
  const ended = hasEnded(status);
  const isLive = mode === "live";
  const retryable: readonly JobStatus[] = [JobStatus.FAILED, JobStatus.EXPIRED, JobStatus.ABORTED, JobStatus.CANCELLED];
  return {
    cancel: !ended,
    pause: !ended && pausedAt === undefined,
    resume: !ended && pausedAt !== undefined,
    retry: isLive && parentJobId === "" && retryable.includes(status),
    rerun: ended && mode !== "rehearse",
    promote: isLive && status === JobStatus.SUCCEEDED && programPart(programJson, "inputSchema") !== "",
  };
}
