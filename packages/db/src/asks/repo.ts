import { type Id, type ProjectId, uuidOfId } from "@svc/core";
import { and, asc, desc, eq, lt, type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { Executor } from "../connect.ts";
import { jobAsks } from "../schema/jobs.ts";
import { namesBut } from "../sql/codec.ts";
import { filterColumn } from "../sql/filter.ts";
import { keyOf, newestOfProject, newestWith } from "../sql/newest-first.ts";
import { selectList } from "../sql/select-list.ts";
import { arrayLiteral } from "../sql/statement.ts";

/** A question of a job to a person (an ask), with all columns of its database row. */
export type AskRecord = typeof jobAsks.$inferSelect;

/** The columns of an ask, as SQL. `a` is the name of the ask's row in the query. */
export const askColumns = selectList(jobAsks, namesBut(jobAsks), "a");

/** A question (ask) to store. */
export type NewAsk = Omit<
  AskRecord,
  | "state"
  | "exhausted"
  | "toolSlug"
  | "entityId"
  | "toolCallId"
  | "deliveredAt"
  | "eventIds"
  | "refusedAnswers"
  | "decision"
  | "overrides"
>;

/**
 * Stores a pending ask (a question to a person). A job has at most one pending ask. Storing a second one rejects with a unique violation of
 * `job_asks_pending`.
 */
export async function insertAsk(tx: Executor, ask: NewAsk): Promise<void> {
  await tx.orm.insert(jobAsks).values({ ...ask, state: "pending" });
}

/** Returns one ask (a question to a person) of a job. Returns undefined if the job has no such ask. */
export async function findAsk(db: Executor, jobId: Id<"job">, id: Id<"ask">): Promise<AskRecord | undefined> {
  const [row] = await db.orm
    .select()
    .from(jobAsks)
    .where(and(eq(jobAsks.id, id), eq(jobAsks.jobId, jobId)));
  return row;
}

/** Returns the ask (the question to a person) that a job waits for. Returns undefined if the job waits for no answer. */
export async function findPendingAsk(db: Executor, jobId: Id<"job">): Promise<AskRecord | undefined> {
  const [row] = await db.orm
    .select()
    .from(jobAsks)
    .where(and(eq(jobAsks.jobId, jobId), eq(jobAsks.state, "pending")));
  return row;
}

/** Returns all asks (questions to people) of a job, in the order they were raised. */
export function listJobAsks(db: Executor, jobId: Id<"job">): Promise<AskRecord[]> {
  return db.orm.select().from(jobAsks).where(eq(jobAsks.jobId, jobId)).orderBy(asc(jobAsks.id));
}

/** Filter of a list of asks (questions of jobs to people). A field that is undefined does not filter. */
export type AskFilter = {
  state: AskRecord["state"] | undefined;
  /** Id of the contact (a person) who is asked the question now, or who was asked it last. */
  principalId: string | undefined;
  jobId: Id<"job"> | undefined;
  standingProgramId: string | undefined;
};

/** Functions that find and list the asks (questions to people) of one project. */
export type AskRepository = {
  /** Returns the ask with this id; undefined if it does not exist. If `jobId` is given, the ask must belong to this job. */
  find(id: Id<"ask">, jobId?: Id<"job">): Promise<AskRecord | undefined>;
  /** Returns the asks that match, newest first, beginning after the id `after`. */
  list(filter: AskFilter, page: { after: Id<"ask"> | undefined; limit: number }): Promise<AskRecord[]>;
  /** Returns the pending asks of several jobs. */
  listPending(jobIds: readonly Id<"job">[]): Promise<AskRecord[]>;
};

/**
 * SQL condition that an ask (a question of a job to a person) is pending. The text must be the same as in the partial indexes. Otherwise
 * PostgreSQL's generic plan does not use these indexes.
 */
const isPending = sql`${jobAsks.state} = 'pending'`;

/**
 * Returns the condition that a column has the requested value. PostgreSQL uses no index for this form of the condition, so it keeps to the
 * index of the list's order. Undefined if no value is requested.
 */
function isSame(column: PgColumn, value: string | undefined): SQL | undefined {
  return value === undefined ? undefined : filterColumn(column, value);
}

/**
 * Returns the condition and the order that select the newest asks (questions of jobs to people). They match the index that suits the
 * filter.
 */
function newestAsks(projectId: ProjectId, filter: AskFilter, after: Id<"ask"> | undefined) {
  const { state, principalId, jobId, standingProgramId } = filter;
  if (jobId !== undefined || standingProgramId !== undefined) return newestOfOne(projectId, filter, after);
  const key = keyOf([jobAsks.state, state], [jobAsks.principalId, principalId]);
  const before = after && uuidOfId(after);
  return key === undefined
    ? newestOfProject(jobAsks, projectId, before)
    : newestWith(jobAsks, projectId, { ...key, before });
}

/** Returns the SQL condition and the order for the newest questions of one job or of one schedule. */
function newestOfOne(
  projectId: ProjectId,
  { state, principalId, jobId, standingProgramId }: AskFilter,
  after: Id<"ask"> | undefined,
) {
  const also = and(
    isSame(jobAsks.state, state),
    isSame(jobAsks.principalId, principalId),
    after === undefined ? undefined : lt(jobAsks.id, after),
  );
  if (jobId === undefined) {
    const ofProgram = sql`${jobAsks.standingProgramId} = ${standingProgramId} and ${jobAsks.standingProgramId} <> ''`;
    return {
      where: and(eq(jobAsks.projectId, projectId), ofProgram, also),
      orderBy: [desc(jobAsks.projectId), desc(jobAsks.standingProgramId), desc(jobAsks.id)],
    };
  }
  // The project must not select an index here. Without statistics, PostgreSQL then read all questions of the project.
  const isOwn = and(isOfProject(projectId), isSame(jobAsks.standingProgramId, standingProgramId));
  return { where: and(eq(jobAsks.jobId, jobId), isOwn, also), orderBy: [desc(jobAsks.jobId), desc(jobAsks.id)] };
}

/** Returns the condition that an ask (a job's question to a person) belongs to a project. PostgreSQL uses no index for this condition. */
function isOfProject(projectId: ProjectId): SQL {
  return filterColumn(jobAsks.projectId, projectId);
}

/** Returns the repository of one project's asks (questions to people). Lists are in the order of ids, which is the order of time. */
export function asksForProject(db: Executor, projectId: ProjectId): AskRepository {
  const ofProject = eq(jobAsks.projectId, projectId);
  return {
    async find(id, jobId) {
      const [row] = await db.orm
        .select()
        .from(jobAsks)
        .where(and(ofProject, jobId === undefined ? undefined : eq(jobAsks.jobId, jobId), eq(jobAsks.id, id)));
      return row;
    },
    list(filter, { after, limit }) {
      const { where, orderBy } = newestAsks(projectId, filter, after);
      return db.orm
        .select()
        .from(jobAsks)
        .where(where)
        .orderBy(...orderBy)
        .limit(limit);
    },
    listPending: async (jobIds) => {
      if (jobIds.length === 0) return [];
      return db.orm
        .select()
        .from(jobAsks)
        .where(
          and(
            isOfProject(projectId),
            sql`${jobAsks.jobId} = any(${arrayLiteral(jobIds.map(uuidOfId))}::uuid[])`,
            isPending,
          ),
        );
    },
  };
}
