import type { Id, StandingProgramId, TimeRange } from "@svc/core";
import type { JobMode, JobStatus } from "../schema/words.ts";

/** Filter of a list of jobs. A field that is not set does not filter. */
export type JobFilter = TimeRange & {
  /** Undefined: all statuses. */
  statuses: readonly JobStatus[] | undefined;
  /**
   * `simulate` includes the simulation runs of simulateFirst; other modes exclude these runs. If undefined, the list has every mode except
   * `rehearse` (approval dry runs). Only the list of a standing program's jobs also includes `rehearse`.
   */
  mode: JobMode | undefined;
  skillSlug: string | undefined;
  /** Only jobs that a standing program started. */
  standingProgramId: StandingProgramId | undefined;
  /** Only children of this job. Lists contain child jobs only if they are filtered by parent or by skill. */
  parentJobId: Id<"job"> | undefined;
};
