import type { Run } from "./run.ts";

/** While a person is waited for, the deadline's clock stands still. */
export function stopDeadline({ job, now }: Run): void {
  if (job.deadlineAt === null) return;
  job.deadlineLeftMs = Math.max(0, job.deadlineAt - now);
  job.deadlineAt = null;
}

/** The deadline's clock goes on, or begins. */
export function resumeDeadline({ job, now }: Run): void {
  if (job.deadlineLeftMs === null) return;
  job.deadlineAt = now + job.deadlineLeftMs;
  job.deadlineLeftMs = null;
}
