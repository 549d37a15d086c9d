import { type ProjectId, uuidOfId } from "@svc/core";
import { and, countDistinct, eq, isNull } from "drizzle-orm";
import { touchCatalog } from "../catalog/touch.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { appendJobEvents } from "../jobs/log.ts";
import type { NewJobEvent } from "../jobs/record.ts";
import { jobPrograms, skills } from "../schema/jobs.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { filterBy } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** A version of a skill: a program that a project promoted to a tool. `slug` is without the prefix `skills.`. */
type Skill = Omit<Row<typeof skills>, "projectId" | "deletedAt">;

/** A skill's program as submitted. `sealedProgram` contains it sealed. In rows of versions before 0.2, `program` contains it unsealed. */
type SkillProgram = Row<typeof jobPrograms, "program" | "sealedProgram">;

/** A skill (a program used as a tool), as lists of skills return it. `inputSchema`: JSON schema of the skill's input, as text. */
export type ListedSkill = Omit<Skill, "inputSchema" | "programDigest"> & { readonly inputSchema: string };

const columns = selectList(skills, namesBut(skills, "projectId", "deletedAt"), "s");
const programColumns = selectList(jobPrograms, ["program", "sealedProgram"], "p");
const listed = selectList(skills, ["slug", "version", "description", "jobId", "accessClass", "createdAt"], "s");

/**
 * SQL that finds the program of each skill. `offset 0` makes PostgreSQL look the program up by its primary key. Otherwise, it planned a
 * join through all programs of the project, which are large.
 */
const eachProgram = `cross join lateral (
     select program, sealed_program from job_programs where project_id = s.project_id and digest = s.program_digest offset 0) p`;

/**
 * SQL for a skill's input schema. In rows of versions before 0.2, the column of the schema is null. The schema is then read from the
 * skill's program, which is not encrypted in these rows. The program is read as json and not as jsonb, so that the schema's text stays as
 * it was written.
 */
const schemaText = `coalesce(s.input_schema, (p.program::json -> 'inputSchema')::text) as "inputSchema"`;

/** Finds one version of a skill by primary keys. Version 0 means the newest version. */
const selectSkill = statement<RawRow<Skill & SkillProgram>>(
  "find_skill",
  `select ${columns.text}, ${programColumns.text} from (
     select * from skills where project_id = $1::uuid and slug = $2::text and deleted_at is null
       and ${filterBy("version", "case when $3::int4 = 0 then version else $3::int4 end")}
     order by version desc limit 1) s ${eachProgram}`,
);

/** Lists the skills of a project, each in its newest version. Finds the versions and their programs by primary keys. */
const selectSkills = statement<RawRow<Omit<ListedSkill, "inputSchema">> & { inputSchema: string }>(
  "list_skills",
  `select ${listed.text}, ${schemaText} from (
     select distinct on (slug) * from skills where project_id = $1::uuid and deleted_at is null order by slug, version desc) s
   ${eachProgram} order by s.slug`,
);

/** Finds all versions of one skill by primary keys, newest first. */
const selectVersions = statement<RawRow<Omit<ListedSkill, "inputSchema">> & { inputSchema: string }>(
  "list_skill_versions",
  `select ${listed.text}, ${schemaText} from skills s ${eachProgram}
   where s.project_id = $1::uuid and s.slug = $2::text and s.deleted_at is null order by s.version desc`,
);

/**
 * Lists the newest skills of a project with the slugs of the tools that their programs call, as JSON text. Finds the skills and their
 * programs by primary keys. The pins are read as json, because jsonb refuses some texts that they may contain.
 */
const selectCalled = statement<{ slug: string; description: string; tools: string }>(
  "list_called_tools",
  `select s.slug, s.description, to_json(array(
     select distinct action.value ->> 'slug' from json_each(p.pins::json) toolkit cross join lateral json_array_elements(
       case json_typeof(toolkit.value #> '{definition,actions}') when 'array' then toolkit.value #> '{definition,actions}'
         else '[]'::json end) action
     order by 1))::text as tools
   from (select * from (
     select distinct on (slug) * from skills where project_id = $1::uuid and deleted_at is null order by slug, version desc) newest
     order by created_at desc limit $2::int4) s
   cross join lateral (
     select pins from job_programs where project_id = s.project_id and digest = s.program_digest offset 0) p`,
);

/** Returns a version of a skill, with its program as submitted. Version 0 means the newest version. Undefined if it does not exist. */
async function findSkill(
  db: Executor,
  projectId: ProjectId,
  { slug, version }: Pick<Skill, "slug" | "version">,
): Promise<(Skill & SkillProgram) | undefined> {
  const [row] = await selectSkill(db, [uuidOfId(projectId), slug, version]);
  return row && programColumns.read(columns.read(row));
}

/** Returns the newest versions of a project's skills, sorted by slug. */
async function listSkills(db: Executor, projectId: ProjectId): Promise<ListedSkill[]> {
  return (await selectSkills(db, [uuidOfId(projectId)])).map((row) => listed.read(row));
}

/** Returns the versions of one skill, newest first. */
async function listSkillVersions(db: Executor, projectId: ProjectId, slug: string): Promise<ListedSkill[]> {
  return (await selectVersions(db, [uuidOfId(projectId), slug])).map((row) => listed.read(row));
}

/**
 * A new version of a skill (a program used as a tool); svc assigns its number. `newest`: the newest version that the caller knows, to detect
 * concurrent changes; 0 for a new skill.
 */
export type NewSkill = Omit<Skill, "version"> & { readonly newest: number };

/** Limits of a project: maximum number of skills, and maximum number of versions of one skill. */
type SkillLimits = { readonly skills: number; readonly versions: number };

/**
 * Result of the promotion of a program to a skill. `added`: the version was added. `moved`: nothing was written, because the skill's newest
 * version is `newest` (0: none) and not the expected one. `too_many`: nothing was written, because a maximum is reached.
 */
type PromotionResult =
  | { readonly outcome: "added"; readonly version: number }
  | { readonly outcome: "moved"; readonly newest: number }
  | { readonly outcome: "too_many"; readonly what: keyof SkillLimits };

/** The skills of one project. Every change increments the project's catalog version in the same transaction. */
type SkillRepository = {
  /** Returns a version of a skill, with its program as submitted. Version 0 means the newest version. Undefined if it does not exist. */
  find(skill: Pick<Skill, "slug" | "version">): Promise<(Skill & SkillProgram) | undefined>;
  /** Returns the newest version of each skill, sorted by slug. */
  list(): Promise<ListedSkill[]>;
  /**
   * Returns the newest skills, at most `max`, newest first. `toolSlugs`: slugs of the tools that the program of the skill calls itself, as
   * they were when the program was stored.
   */
  listCalled(max: number): Promise<(Pick<Skill, "slug" | "description"> & { readonly toolSlugs: string[] })[]>;
  /** Returns all versions of one skill, newest first. */
  listVersions(slug: string): Promise<ListedSkill[]>;
  /**
   * Adds a version of a skill, and the log entry that `eventOf` returns for the version's number. Adds nothing if a limit is reached, or if
   * the caller does not know the newest version.
   */
  add(skill: NewSkill, eventOf: (version: number) => NewJobEvent, most: SkillLimits): Promise<PromotionResult>;
  /** Deletes a version of a skill; for version 0, deletes all its versions. Returns false if there is nothing to delete. */
  delete(skill: Pick<Skill, "slug" | "version">, nowMs: number): Promise<boolean>;
};

/** Returns the repository of one project's skills. */
export function skillsForProject(db: Executor, projectId: ProjectId): SkillRepository {
  const own = eq(skills.projectId, projectId);
  const ofSlug = (slug: string) => and(own, eq(skills.slug, slug));
  return {
    find: (skill) => findSkill(db, projectId, skill),
    list: () => listSkills(db, projectId),
    async listCalled(max) {
      const rows = await selectCalled(db, [uuidOfId(projectId), max]);
      return rows.map(({ tools, ...skill }) => ({ ...skill, toolSlugs: JSON.parse(tools) as string[] }));
    },
    listVersions: (slug) => listSkillVersions(db, projectId, slug),
    add: ({ newest, ...skill }, eventOf, most) =>
      withTransaction(db, async (tx) => {
        // This locks the project's row. So if two programs are promoted at the same time, only one of them can use the last place below the
        // limit.
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
