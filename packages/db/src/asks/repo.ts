import { type Id, type ProjectId, uuidOfId } from "@svc/core";
import { and, asc, desc, eq, lt, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { jobAsks } from "../schema/jobs.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { keyOf, newestOfProject, newestWith } from "../sql/newest-first.ts";

/** A question as its row holds it. */
export type AskRecord = typeof jobAsks.$inferSelect;

/** A question that is to be put. */
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

/** Writes a pending ask. A job has at most one: a second is a unique violation of `job_asks_pending`. */
export async function insertAsk(tx: Executor, ask: NewAsk): Promise<void> {
  await tx.orm.insert(jobAsks).values({ ...ask, state: "pending" });
}

/** One ask of a job. */
export async function findAsk(db: Executor, jobId: Id<"job">, id: Id<"ask">): Promise<AskRecord | undefined> {
  const [row] = await db.orm
    .select()
    .from(jobAsks)
    .where(and(eq(jobAsks.id, id), eq(jobAsks.jobId, jobId)));
  return row;
}

/** The question a job waits on. */
export async function findPendingAsk(db: Executor, jobId: Id<"job">): Promise<AskRecord | undefined> {
  const [row] = await db.orm
    .select()
    .from(jobAsks)
    .where(and(eq(jobAsks.jobId, jobId), eq(jobAsks.state, "pending")));
  return row;
}

/** Every ask of a job in the order they were raised. */
export function listJobAsks(db: Executor, jobId: Id<"job">): Promise<AskRecord[]> {
  return db.orm.select().from(jobAsks).where(eq(jobAsks.jobId, jobId)).orderBy(asc(jobAsks.id));
}

/** What a list of asks is narrowed to; an absent part does not narrow. */
export type AskFilter = {
  state: AskRecord["state"] | undefined;
  /** Who holds the question, or held it last. */
  principalId: string | undefined;
  jobId: Id<"job"> | undefined;
  standingProgramId: string | undefined;
};

/** The asks of one project. */
export type AskRepository = {
  /** Of a job where one is named. */
  find(id: Id<"ask">, jobId?: Id<"job">): Promise<AskRecord | undefined>;
  /** Newest first, from after `after`. */
  list(filter: AskFilter, page: { after: Id<"ask"> | undefined; limit: number }): Promise<AskRecord[]>;
  /** The pending asks of several jobs. */
  listPending(jobIds: readonly Id<"job">[]): Promise<AskRecord[]>;
};

/** The condition of partial indexes in their words: a plan for any value knows no other. */
const isPending = sql`${jobAsks.state} = 'pending'`;

/** By the index that fits what is asked for. */
function newestAsks(
  projectId: ProjectId,
  { state, principalId }: Pick<AskFilter, "state" | "principalId">,
  before: string | undefined,
) {
  const key = keyOf([jobAsks.state, state], [jobAsks.principalId, principalId]);
  return key === undefined
    ? newestOfProject(jobAsks, projectId, before)
    : newestWith(jobAsks, projectId, { ...key, before });
}

/** The asks of one project. Ids are in the order of time, which is the order of a list. */
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
    list({ state, principalId, jobId, standingProgramId }, { after, limit }) {
      const isNarrow = jobId !== undefined || standingProgramId !== undefined;
      const newest = isNarrow
        ? { where: ofProject, orderBy: [desc(jobAsks.id)] }
        : newestAsks(projectId, { state, principalId }, after && uuidOfId(after));
      return db.orm
        .select()
        .from(jobAsks)
        .where(
          and(
            newest.where,
            state === undefined || !isNarrow ? undefined : state === "pending" ? isPending : eq(jobAsks.state, state),
            principalId === undefined || !isNarrow ? undefined : eq(jobAsks.principalId, principalId),
            jobId === undefined ? undefined : eq(jobAsks.jobId, jobId),
            standingProgramId === undefined
              ? undefined
              : sql`${eq(jobAsks.standingProgramId, standingProgramId)} and ${jobAsks.standingProgramId} <> ''`,
            after === undefined ? undefined : lt(jobAsks.id, after),
          ),
        )
        .orderBy(...newest.orderBy)
        .limit(limit);
    },
    listPending: async (jobIds) => {
      if (jobIds.length === 0) return [];
      return db.orm
        .select()
        .from(jobAsks)
        .where(
          and(
            // By the jobs, whatever the statistics say of the project.
            sql`${jobAsks.projectId} is not distinct from ${uuidOfId(projectId)}::uuid`,
            sql`${jobAsks.jobId} = any(${arrayLiteral(jobIds.map(uuidOfId))}::uuid[])`,
            isPending,
          ),
        );
    },
  };
}
