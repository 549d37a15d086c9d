import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { jobPrograms, skills } from "../schema/jobs.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** A program that a project promoted to a tool. `slug` is without the prefix `skills.`. */
export type Skill = Omit<Row<typeof skills>, "projectId">;

/** A program as it was submitted, sealed or, of versions before 0.2, as it is. */
export type SkillProgram = Row<typeof jobPrograms, "program" | "sealedProgram">;

/** A skill with the JSON text of its program's inputSchema. */
export type ListedSkill = Pick<Skill, "slug" | "description" | "accessClass"> & { readonly inputSchema: string };

const columns = selectList(skills, namesBut(skills, "projectId"), "s");
const programColumns = selectList(jobPrograms, ["program", "sealedProgram"], "p");
const listed = selectList(skills, ["slug", "description", "accessClass"], "s");

/** `offset 0` keeps it a lookup by primary key: a join was planned through all programs of the project, and they are large. */
const eachProgram = `cross join lateral (
     select program, sealed_program from job_programs where project_id = s.project_id and digest = s.program_digest offset 0) p`;

/** By primary keys. */
const selectSkill = statement<RawRow<Skill & SkillProgram>>(
  "find_skill",
  `select ${columns.text}, ${programColumns.text} from skills s ${eachProgram} where s.project_id = $1::uuid and s.slug = $2::text`,
);

/** By primary keys. Of an unsealed program as json, not jsonb: the text of the schema is kept as it was written. */
const selectSkills = statement<RawRow<Omit<ListedSkill, "inputSchema">> & { inputSchema: string }>(
  "list_skills",
  `select ${listed.text}, coalesce(s.input_schema, (p.program::json -> 'inputSchema')::text) as "inputSchema"
   from skills s ${eachProgram} where s.project_id = $1::uuid order by s.slug`,
);

/** A skill of a project with its program as it was submitted. */
export async function findSkill(
  db: Executor,
  projectId: ProjectId,
  slug: string,
): Promise<(Skill & SkillProgram) | undefined> {
  const [row] = await selectSkill(db, [uuidOfId(projectId), slug]);
  return row && programColumns.read(columns.read(row));
}

/** The skills of a project, ordered by slug. */
export async function listSkills(db: Executor, projectId: ProjectId): Promise<ListedSkill[]> {
  return (await selectSkills(db, [uuidOfId(projectId)])).map((row) => listed.read(row));
}
