import type { Id, StandingProgramId, TimeRange } from "@svc/core";
import type { JobMode, JobStatus } from "../schema/words.ts";

/** Filter of a list of jobs. A field that is not set does not filter. */
export type JobFilter = TimeRange & {
  /** Statuses of the jobs that the list contains. Undefined: jobs of every status. */
  statuses: readonly JobStatus[] | undefined;
  /**
   * Mode of the listed jobs. Undefined: all modes, but of the simulation runs only those that a caller submitted. If `standingProgramId` is
   * set, the list then also has the schedule's approval dry runs.
   */
  mode: JobMode | undefined;
  skillSlug: string | undefined;
  /** If set, the list contains only jobs that this standing program (a program that starts jobs on a schedule or event) started. */
  standingProgramId: StandingProgramId | undefined;
  /** Only children of this job. Lists contain child jobs only if they are filtered by parent or by skill. */
  parentJobId: Id<"job"> | undefined;
};
