import type { ProjectId } from "@svc/core";
import { and, count, eq } from "drizzle-orm";
import { touchCatalog } from "../catalog/repo.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { appendJobEvents } from "../jobs/append-events.ts";
import type { NewJobEvent } from "../jobs/record.ts";
import { skills } from "../schema/jobs.ts";
import { findSkill, type ListedSkill, listSkills, type Skill, type SkillProgram } from "./read.ts";

/** The skills of one project. Every change moves the project's catalog version in the same transaction. */
export type SkillRepository = {
  /** A skill with its program as it was submitted. */
  find(slug: string): Promise<(Skill & SkillProgram) | undefined>;
  /** All of them, ordered by slug. */
  list(): Promise<ListedSkill[]>;
  /** Adds one and logs it on its job; else nothing is written: the slug is taken, or there are `most` already. */
  add(skill: Skill, event: NewJobEvent, most: number): Promise<"added" | "taken" | "too_many">;
};

/** The skills of one project. */
export function skillsForProject(db: Executor, projectId: ProjectId): SkillRepository {
  const own = eq(skills.projectId, projectId);
  return {
    find: (slug) => findSkill(db, projectId, slug),
    list: () => listSkills(db, projectId),
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
