import type { ProjectId } from "@svc/core";
import { and, asc, count, eq, sql } from "drizzle-orm";
import { touchCatalog } from "../catalog/repo.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { appendJobEvents } from "../jobs/load.ts";
import type { NewJobEvent } from "../jobs/record.ts";
import { jobPrograms, skills } from "../schema/jobs.ts";

/** A program that a project promoted to a tool. `slug` is without the prefix `skills.`. */
export type Skill = Omit<typeof skills.$inferSelect, "projectId">;

/** A skill with the JSON text of its program's inputSchema. */
export type ListedSkill = Pick<Skill, "slug" | "description" | "accessClass"> & { readonly inputSchema: string };

/** The skills of one project. Every change moves the project's catalog version in the same transaction. */
export type SkillRepository = {
  /** A skill with its program as it was submitted. */
  find(slug: string): Promise<(Skill & { readonly program: string }) | undefined>;
  /** All of them, ordered by slug. */
  list(): Promise<ListedSkill[]>;
  /** Adds one and logs it on its job; else nothing is written: the slug is taken, or there are `most` already. */
  add(skill: Skill, event: NewJobEvent, most: number): Promise<"added" | "taken" | "too_many">;
};

const columns = {
  slug: skills.slug,
  description: skills.description,
  jobId: skills.jobId,
  programDigest: skills.programDigest,
  accessClass: skills.accessClass,
  createdAt: skills.createdAt,
};

/** The skills of one project. */
export function skillsForProject(db: Executor, projectId: ProjectId): SkillRepository {
  const own = eq(skills.projectId, projectId);
  const ofProgram = and(eq(jobPrograms.projectId, skills.projectId), eq(jobPrograms.digest, skills.programDigest));
  return {
    async find(slug) {
      const [row] = await db.orm
        .select({ ...columns, program: jobPrograms.program })
        .from(skills)
        .innerJoin(jobPrograms, ofProgram)
        .where(and(own, eq(skills.slug, slug)));
      return row;
    },
    list: () =>
      db.orm
        .select({
          slug: skills.slug,
          description: skills.description,
          accessClass: skills.accessClass,
          // As json, not jsonb: the text of the schema is kept as it was written.
          inputSchema: sql<string>`(${jobPrograms.program}::json -> 'inputSchema')::text`,
        })
        .from(skills)
        .innerJoin(jobPrograms, ofProgram)
        .where(own)
        .orderBy(asc(skills.slug)),
    add: (skill, event, most) =>
      withTransaction(db, async (tx) => {
        // Moving the version takes the project's row, so two promotions cannot both find room for the last skill.
        await touchCatalog(tx, projectId);
        const [known] = await tx.orm
          .select({ slug: skills.slug })
          .from(skills)
          .where(and(own, eq(skills.slug, skill.slug)));
        if (known !== undefined) return "taken";
        const [others] = await tx.orm.select({ count: count() }).from(skills).where(own);
        if ((others?.count ?? 0) >= most) return "too_many";
        await tx.orm.insert(skills).values({ ...skill, projectId });
        await appendJobEvents(tx, skill.jobId, [event], skill.createdAt);
        return "added";
      }),
  };
}
