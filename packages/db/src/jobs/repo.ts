import { type Id, type ProjectId, uuidOfId } from "@svc/core";
import { and, asc, eq, getTableColumns, gte, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { jobEvents, jobs } from "../schema/jobs.ts";
import { jobStatuses } from "../schema/words.ts";
import { idBounds } from "../sql/newest-in.ts";
import { findListedJob, findListedTwin, type ListedJob } from "./find-listed.ts";
import type { JobFilter, JobPlace } from "./list-filter.ts";
import { listNarrowedJobs } from "./list-narrowed.ts";
import { type ListedKind, listJobPage } from "./list-page.ts";
import { listJobSteps } from "./list-steps.ts";
import { entriesOf, submittedType } from "./log-rows.ts";
import { chainOfJob } from "./principal-chain.ts";
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
  const own = eq(jobs.projectId, projectId);
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
    listEvents: async (id, { afterSeq, limit }) => {
      // The row that holds the entry before the page may hold its first ones.
      const from = sql`coalesce((select e.seq from job_events e
        where e.job_id = ${uuidOfId(id)}::uuid and e.seq <= ${afterSeq}::int4 order by e.seq desc limit 1), 0)`;
      const programHash = sql<string | null>`case when ${jobEvents.type} = ${submittedType} then (
        select p.program_hash from job_programs p where p.project_id = ${jobs.projectId} and p.digest = ${jobs.programDigest}) end`;
      const rows = await db.orm
        .select({ ...getTableColumns(jobEvents), jobChain: jobs.principalChain, keyId: jobs.keyId, programHash })
        .from(jobEvents)
        .innerJoin(jobs, eq(jobs.id, jobEvents.jobId))
        .where(and(own, eq(jobEvents.jobId, id), gte(jobEvents.seq, from)))
        .orderBy(asc(jobEvents.seq))
        .limit(limit + 1);
      const log = rows.map(({ jobChain, keyId, ...row }) => {
        return { ...row, jobChain: chainOfJob({ keyId, principalChain: jobChain }) };
      });
      return entriesOf(log)
        .filter(({ seq }) => seq > afterSeq)
        .slice(0, limit);
    },
  };
}

/** The kinds of jobs in a list that nothing narrows but status and mode; undefined for any other list, which has an index of its own. */
function kindsOf({ mode, skillSlug, parentJobId, standingProgramId }: JobFilter): ListedKind[] | undefined {
  if (mode === "rehearse" || (skillSlug ?? parentJobId ?? standingProgramId) !== undefined) return undefined;
  if (mode === "simulate") return ["simulation", "twin"];
  return mode === "live" ? ["live"] : ["live", "simulation"];
}
