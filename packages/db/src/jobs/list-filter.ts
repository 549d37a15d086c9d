import type { Id, StandingProgramId, TimeRange } from "@svc/core";
import type { JobMode, JobStatus } from "../schema/words.ts";

/** Filter of a list of jobs. A field that is not set does not filter. */
export type JobFilter = TimeRange & {
  /** Statuses of the jobs that the list contains. Undefined: jobs of every status. */
  statuses: readonly JobStatus[] | undefined;
  /**
   * Only jobs in this mode. If undefined, the list has every mode except `rehearse` (approval dry runs), which only the list of the jobs of
   * one standing program (a schedule) includes. A simulation run that svc made before a live job is listed only with `simulate`.
   */
  mode: JobMode | undefined;
  skillSlug: string | undefined;
  /** If set, the list contains only jobs that this standing program (a program that starts jobs on a schedule or event) started. */
  standingProgramId: StandingProgramId | undefined;
  /** Only children of this job. Lists contain child jobs only if they are filtered by parent or by skill. */
  parentJobId: Id<"job"> | undefined;
};
