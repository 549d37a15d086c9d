import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobPrograms, skills } from "../schema/jobs.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { filterBy } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** A version of a program that a project promoted to a tool. `slug` is without the prefix `skills.`. */
export type Skill = Omit<Row<typeof skills>, "projectId" | "deletedAt">;

/** A program as it was submitted, sealed or, of versions before 0.2, as it is. */
export type SkillProgram = Row<typeof jobPrograms, "program" | "sealedProgram">;

/** A skill with the JSON text of its program's inputSchema. */
export type ListedSkill = Omit<Skill, "inputSchema" | "programDigest"> & { readonly inputSchema: string };

const columns = selectList(skills, namesBut(skills, "projectId", "deletedAt"), "s");
const programColumns = selectList(jobPrograms, ["program", "sealedProgram"], "p");
const listed = selectList(skills, ["slug", "version", "description", "jobId", "accessClass", "createdAt"], "s");

/** `offset 0` keeps it a lookup by primary key: a join was planned through all programs of the project, and they are large. */
const eachProgram = `cross join lateral (
     select program, sealed_program from job_programs where project_id = s.project_id and digest = s.program_digest offset 0) p`;

/** Of an unsealed program as json, not jsonb: the text of the schema is kept as it was written. */
const schemaText = `coalesce(s.input_schema, (p.program::json -> 'inputSchema')::text) as "inputSchema"`;

/** By primary keys: of a version, or, of version 0, of the newest. */
const selectSkill = statement<RawRow<Skill & SkillProgram>>(
  "find_skill",
  `select ${columns.text}, ${programColumns.text} from (
     select * from skills where project_id = $1::uuid and slug = $2::text and deleted_at is null
       and ${filterBy("version", "case when $3::int4 = 0 then version else $3::int4 end")}
     order by version desc limit 1) s ${eachProgram}`,
);

/** By primary keys: the newest version of each. */
const selectSkills = statement<RawRow<Omit<ListedSkill, "inputSchema">> & { inputSchema: string }>(
  "list_skills",
  `select ${listed.text}, ${schemaText} from (
     select distinct on (slug) * from skills where project_id = $1::uuid and deleted_at is null order by slug, version desc) s
   ${eachProgram} order by s.slug`,
);

/** By primary keys: every version of one, the newest first. */
const selectVersions = statement<RawRow<Omit<ListedSkill, "inputSchema">> & { inputSchema: string }>(
  "list_skill_versions",
  `select ${listed.text}, ${schemaText} from skills s ${eachProgram}
   where s.project_id = $1::uuid and s.slug = $2::text and s.deleted_at is null order by s.version desc`,
);

/** A skill of a project with its program as it was submitted; of version 0, the newest. */
export async function findSkill(
  db: Executor,
  projectId: ProjectId,
  { slug, version }: Pick<Skill, "slug" | "version">,
): Promise<(Skill & SkillProgram) | undefined> {
  const [row] = await selectSkill(db, [uuidOfId(projectId), slug, version]);
  return row && programColumns.read(columns.read(row));
}

/** The newest versions of a project's skills, ordered by slug. */
export async function listSkills(db: Executor, projectId: ProjectId): Promise<ListedSkill[]> {
  return (await selectSkills(db, [uuidOfId(projectId)])).map((row) => listed.read(row));
}

/** The versions of one skill, the newest first. */
export async function listSkillVersions(db: Executor, projectId: ProjectId, slug: string): Promise<ListedSkill[]> {
  return (await selectVersions(db, [uuidOfId(projectId), slug])).map((row) => listed.read(row));
}
