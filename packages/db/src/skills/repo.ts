import type { ProjectId } from "@svc/core";
import { and, countDistinct, eq, isNull } from "drizzle-orm";
import { touchCatalog } from "../catalog/repo.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { appendJobEvents } from "../jobs/append-events.ts";
import type { NewJobEvent } from "../jobs/record.ts";
import { skills } from "../schema/jobs.ts";
import { findSkill, type ListedSkill, listSkills, listSkillVersions, type Skill, type SkillProgram } from "./read.ts";

/** What is promoted: a version that has no number yet. `newest`: the version that it follows; 0 for a new skill. */
export type NewSkill = Omit<Skill, "version"> & { readonly newest: number };

/** How many skills a project may have, and a skill versions. */
export type SkillBounds = { readonly skills: number; readonly versions: number };

/**
 * What came of a promotion: the version that was made; or the newest version of the skill is another than was said (0: there is none),
 * or there are as many as may be, and nothing was written.
 */
export type Promoted =
  | { readonly outcome: "added"; readonly version: number }
  | { readonly outcome: "moved"; readonly newest: number }
  | { readonly outcome: "too_many"; readonly what: keyof SkillBounds };

/** The skills of one project. Every change moves the project's catalog version in the same transaction. */
export type SkillRepository = {
  /** A skill with its program as it was submitted; of version 0, the newest. */
  find(skill: Pick<Skill, "slug" | "version">): Promise<(Skill & SkillProgram) | undefined>;
  /** The newest of each, ordered by slug. */
  list(): Promise<ListedSkill[]>;
  /** All of one, the newest first. */
  listVersions(slug: string): Promise<ListedSkill[]>;
  /** Adds a version, and logs on its job what `eventOf` makes of its number. */
  add(skill: NewSkill, eventOf: (version: number) => NewJobEvent, most: SkillBounds): Promise<Promoted>;
  /** Deletes a version, or, of version 0, all. False when there is none. */
  delete(skill: Pick<Skill, "slug" | "version">, nowMs: number): Promise<boolean>;
};

/** The skills of one project. */
export function skillsForProject(db: Executor, projectId: ProjectId): SkillRepository {
  const own = eq(skills.projectId, projectId);
  const ofSlug = (slug: string) => and(own, eq(skills.slug, slug));
  return {
    find: (skill) => findSkill(db, projectId, skill),
    list: () => listSkills(db, projectId),
    listVersions: (slug) => listSkillVersions(db, projectId, slug),
    add: ({ newest, ...skill }, eventOf, most) =>
      withTransaction(db, async (tx) => {
        // Moving the version takes the project's row, so two promotions cannot both find room for the last skill.
        await touchCatalog(tx, projectId);
        const known = await tx.orm
          .select({ version: skills.version, deletedAt: skills.deletedAt })
          .from(skills)
          .where(ofSlug(skill.slug));
        const kept = known.filter(({ deletedAt }) => deletedAt === null).map(({ version }) => version);
        const found = Math.max(0, ...kept);
        if (found !== newest) return { outcome: "moved", newest: found };
        if (kept.length >= most.versions) return { outcome: "too_many", what: "versions" };
        if (found === 0) {
          const [others] = await tx.orm
            .select({ count: countDistinct(skills.slug) })
            .from(skills)
            .where(and(own, isNull(skills.deletedAt)));
          if ((others?.count ?? 0) >= most.skills) return { outcome: "too_many", what: "skills" };
        }
        const version = 1 + Math.max(0, ...known.map((one) => one.version));
        await tx.orm.insert(skills).values({ ...skill, version, projectId });
        await appendJobEvents(tx, skill.jobId, [eventOf(version)], skill.createdAt);
        return { outcome: "added", version };
      }),
    delete: ({ slug, version }, nowMs) =>
      withTransaction(db, async (tx) => {
        const which = version === 0 ? undefined : eq(skills.version, version);
        const gone = await tx.orm
          .update(skills)
          .set({ deletedAt: nowMs })
          .where(and(ofSlug(slug), which, isNull(skills.deletedAt)))
          .returning({ version: skills.version });
        if (gone.length === 0) return false;
        await touchCatalog(tx, projectId);
        return true;
      }),
  };
}
