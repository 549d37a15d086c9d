import type { Id, StandingProgramId, TimeRange } from "@svc/core";
import type { JobMode, JobStatus } from "../schema/words.ts";

/** Filter of a list of jobs. A field that is not set does not filter. */
export type JobFilter = TimeRange & {
  /** Statuses of the jobs that the list contains. Undefined: jobs of every status. */
  statuses: readonly JobStatus[] | undefined;
  /**
   * Only jobs in this mode. Undefined: all modes, without approval dry runs and without simulation runs that svc made before live jobs. The
   * list of one standing program includes its approval dry runs.
   */
  mode: JobMode | undefined;
  skillSlug: string | undefined;
  /** If set, the list contains only jobs that this standing program (a program that starts jobs on a schedule or event) started. */
  standingProgramId: StandingProgramId | undefined;
  /** Only children of this job. Lists contain child jobs only if they are filtered by parent or by skill. */
  parentJobId: Id<"job"> | undefined;
};
