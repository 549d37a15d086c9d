import type { Id, ProjectId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobStatuses } from "../schema/words.ts";
import { idBounds } from "../sql/newest-in.ts";
import { findListedJob, findListedTwin, type ListedJob } from "./find-listed.ts";
import type { JobFilter, JobPlace } from "./list-filter.ts";
import { listNarrowedJobs } from "./list-narrowed.ts";
import { type ListedKind, listJobPage } from "./list-page.ts";
import { listJobSteps } from "./list-steps.ts";
import { readJobLog } from "./read-log.ts";
import type { JobEventRecord, JobStepRecord } from "./record.ts";

/** The jobs of one project. */
export type JobRepository = {
  find(id: Id<"job">): Promise<ListedJob | undefined>;
  /** The simulation that simulateFirst made for a job. */
  findTwin(id: Id<"job">): Promise<ListedJob | undefined>;
  /** Newest first, from after `after`. */
  list(filter: JobFilter, page: JobPlace): Promise<ListedJob[]>;
  /** The steps of several jobs, in the order they began. */
  listSteps(ids: readonly Id<"job">[]): Promise<Map<Id<"job">, JobStepRecord[]>>;
  /** The log of a job by seq upwards, from after `afterSeq`; empty for a job of another project. */
  listEvents(id: Id<"job">, page: { afterSeq: number; limit: number }): Promise<JobEventRecord[]>;
};

/** The jobs of one project. Ids are in the order of time, which is the order of a list. */
export function jobsForProject(db: Executor, projectId: ProjectId): JobRepository {
  return {
    find: (id) => findListedJob(db, projectId, id),
    findTwin: (id) => findListedTwin(db, projectId, id),
    listSteps: (ids) => listJobSteps(db, projectId, ids),
    list: async (filter, { after, limit }) => {
      const kinds = kindsOf(filter);
      if (kinds === undefined) return listNarrowedJobs(db, projectId, filter, { after, limit });
      const { statuses = jobStatuses } = filter;
      return listJobPage(db, projectId, { kinds, statuses, ...idBounds(filter, after), limit });
    },
    listEvents: (id, page) => readJobLog(db, projectId, { id, ...page }),
  };
}

/** The kinds of jobs in a list that nothing narrows but status and mode; undefined for any other list, which has an index of its own. */
function kindsOf({ mode, skillSlug, parentJobId, standingProgramId }: JobFilter): ListedKind[] | undefined {
  if (mode === "rehearse" || (skillSlug ?? parentJobId ?? standingProgramId) !== undefined) return undefined;
  if (mode === "simulate") return ["simulation", "twin"];
  return mode === "live" ? ["live"] : ["live", "simulation"];
}
