import type { Id, StandingProgramId, TimeRange } from "@svc/core";
import type { JobMode, JobStatus } from "../schema/words.ts";

/** What a list of jobs is narrowed to; an absent part does not narrow. */
export type JobFilter = TimeRange & {
  /** Undefined: of every status. */
  statuses: readonly JobStatus[] | undefined;
  /**
   * `simulate` includes the twins of simulateFirst, anything else leaves them out. Undefined: every mode but `rehearse`, which of all
   * lists only that of a standing program's jobs has.
   */
  mode: JobMode | undefined;
  skillSlug: string | undefined;
  /** Jobs that a standing program started. */
  standingProgramId: StandingProgramId | undefined;
  /** Jobs that others run are in no list but one of these two. */
  parentJobId: Id<"job"> | undefined;
};
