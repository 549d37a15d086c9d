import type { Id, StandingProgramId, TimeRange } from "@svc/core";
import type { JobMode, JobStatus } from "../schema/words.ts";

/** Filter of a list of jobs; an absent part does not filter. */
export type JobFilter = TimeRange & {
  /** Undefined: all statuses. */
  statuses: readonly JobStatus[] | undefined;
  /**
   * `simulate` includes the simulation runs of simulateFirst; other modes exclude them. Undefined: every mode except `rehearse`, which only
   * the list of a standing program's jobs includes.
   */
  mode: JobMode | undefined;
  skillSlug: string | undefined;
  /** Only jobs that a standing program started. */
  standingProgramId: StandingProgramId | undefined;
  /** Child jobs appear only in lists by parent or by skill. */
  parentJobId: Id<"job"> | undefined;
};
