import { type Id, type ProjectId, uuidOfId } from "@svc/core";
import { and, asc, desc, eq, getTableColumns, gt, inArray, isNull, lt } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { jobEvents, jobPrograms, jobSteps, jobs } from "../schema/jobs.ts";
import { statement } from "../statement.ts";
import { type JobProgramRecord, type JobRow, jobColumns, jobOfRow } from "./load.ts";
import type { JobEventRecord, JobRecord, JobStepRecord } from "./record.ts";

/** What a list of jobs is narrowed to; an absent part does not narrow. */
export type JobFilter = {
  status: string | undefined;
  /** `simulate` includes the twins of simulateFirst, anything else leaves them out. */
  mode: "live" | "simulate" | undefined;
  skillSlug: string | undefined;
};

/** A job with its program as it was submitted; without the pinned definitions, which only its driver needs and which are large. */
export type ListedJob = JobRecord & Omit<JobProgramRecord, "pins">;

/** The jobs of one project. */
export type JobRepository = {
  find(id: Id<"job">): Promise<ListedJob | undefined>;
  /** The simulation that simulateFirst made for a job. */
  findTwin(id: Id<"job">): Promise<ListedJob | undefined>;
  /** Newest first, from after `after`. */
  list(filter: JobFilter, page: { after: Id<"job"> | undefined; limit: number }): Promise<ListedJob[]>;
  /** The steps of several jobs, in the order they began. */
  listSteps(ids: readonly Id<"job">[]): Promise<Map<Id<"job">, JobStepRecord[]>>;
  /** The log of a job by seq upwards, from after `afterSeq`; empty for a job of another project. */
  listEvents(id: Id<"job">, page: { afterSeq: number; limit: number }): Promise<JobEventRecord[]>;
};

const { idempotencyKey: _key, contentDigest: _digest, ...columns } = getTableColumns(jobs);
const { program, programHash } = getTableColumns(jobPrograms);

/** Runs for every submission, and for every look at a job. */
const selectListed = statement<JobRow & { program: string; program_hash: string }>(
  "find_job",
  `select ${jobColumns}, p.program, p.program_hash
   from jobs j join job_programs p on p.project_id = j.project_id and p.digest = j.program_digest
   where j.id = $1::uuid and j.project_id = $2::uuid`,
);

/** The jobs of one project. Ids are in the order of time, which is the order of a list. */
export function jobsForProject(db: Executor, projectId: ProjectId): JobRepository {
  const own = eq(jobs.projectId, projectId);
  const select = () =>
    db.orm
      .select({ ...columns, program, programHash })
      .from(jobs)
      .innerJoin(
        jobPrograms,
        and(eq(jobPrograms.projectId, jobs.projectId), eq(jobPrograms.digest, jobs.programDigest)),
      );
  return {
    async find(id) {
      const [row] = await selectListed(db, [uuidOfId(id), uuidOfId(projectId)]);
      return row && { ...jobOfRow(row), program: row.program, programHash: row.program_hash };
    },
    async findTwin(id) {
      const [row] = await select()
        .where(and(own, eq(jobs.simulatedFrom, id)))
        .orderBy(jobs.id)
        .limit(1);
      return row;
    },
    list: ({ status, mode, skillSlug }, { after, limit }) =>
      select()
        .where(
          and(
            own,
            status === undefined ? undefined : eq(jobs.status, status),
            mode === undefined ? undefined : eq(jobs.mode, mode),
            mode === "simulate" ? undefined : isNull(jobs.simulatedFrom),
            skillSlug === undefined ? undefined : eq(jobs.skillSlug, skillSlug),
            after === undefined ? undefined : lt(jobs.id, after),
          ),
        )
        .orderBy(desc(jobs.id))
        .limit(limit),
    async listSteps(ids) {
      const found = new Map<Id<"job">, JobStepRecord[]>(ids.map((id) => [id, []]));
      const rows = await db.orm
        .select({ ...getTableColumns(jobSteps) })
        .from(jobSteps)
        .innerJoin(jobs, eq(jobs.id, jobSteps.jobId))
        .where(and(own, inArray(jobSteps.jobId, [...ids])))
        .orderBy(asc(jobSteps.jobId), asc(jobSteps.ordinal));
      for (const { jobId, ...step } of rows) found.get(jobId)?.push(step);
      return found;
    },
    listEvents: async (id, { afterSeq, limit }) => {
      const rows = await db.orm
        .select({ ...getTableColumns(jobEvents) })
        .from(jobEvents)
        .innerJoin(jobs, eq(jobs.id, jobEvents.jobId))
        .where(and(own, eq(jobEvents.jobId, id), gt(jobEvents.seq, afterSeq)))
        .orderBy(asc(jobEvents.seq))
        .limit(limit);
      return rows;
    },
  };
}
