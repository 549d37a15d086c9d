import { type ProjectId, uuidOfId } from "@svc/core";
import { getTableName, type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Executor } from "../connect.ts";
import { nextOfProject } from "../erasures/walk.ts";
import { type ErasedTable, erasedTables, type NamedEntity } from "../schema/erased-tables.ts";
import { jobs, skills, standingPrograms, standingVersions } from "../schema/index.ts";
import { firstUuid } from "../sql/newest-in.ts";
import { rowsOfEntity } from "./membership.ts";

type Use = { readonly cursor: string; readonly of: string; readonly digest: Buffer };

/** The next uses of programs by rows of a project: which row of which table each goes with, in the order of their cursors. */
type Uses = { readonly table: PgTable; readonly page: (projectId: ProjectId, after: string | undefined) => SQL };

const pageMax = 500;
const limit = sql`${pageMax}::int4`;

const everyUse: readonly Uses[] = [
  { table: jobs, page: usesByJobs },
  { table: jobs, page: usesBySkills },
  { table: standingPrograms, page: usesByVersions },
];

/**
 * The digests of programs that an entity's jobs, skills or standing programs run, and no others of the project. They are looked for page by page;
 * what is held meanwhile is a digest for each program of the project.
 */
export async function programsOfEntityAlone(db: Executor, named: NamedEntity): Promise<Buffer[]> {
  const [own, others] = [new Set<string>(), new Set<string>()];
  for (const { table, page } of everyUse) {
    for (let after: string | undefined; ; ) {
      const rows = await db.orm.execute<Use>(page(named.projectId, after));
      const theirs = await rowsOfEntity(db, named, declared(table), [...new Set(rows.map(({ of }) => of))]);
      for (const { of, digest } of rows) (theirs.has(of) ? own : others).add(digest.toString("latin1"));
      after = rows.at(-1)?.cursor;
      if (rows.length < pageMax) break;
    }
  }
  return [...own].filter((digest) => !others.has(digest)).map((digest) => Buffer.from(digest, "latin1"));
}

function usesByJobs(projectId: ProjectId, after: string | undefined): SQL {
  const next = nextOfProject({ table: jobs }, { projectId, after, limit: pageMax });
  return sql`select n.place || '/' || n.id as cursor, n.id::text as of, j.program_digest as digest
    from (${next}) n cross join lateral (select * from ${jobs} where id = n.id offset 0) j order by n.place, n.id`;
}

function usesBySkills(projectId: ProjectId, after = "0/"): SQL {
  const [version, ...slug] = after.split("/");
  const project = sql`${uuidOfId(projectId)}::uuid`;
  return sql`select version || '/' || slug as cursor, job_id::text as of, program_digest as digest from ${skills}
    where (project_id, slug, version) > (${project}, ${slug.join("/")}::text, ${version}::int4) and project_id <= ${project}
    order by project_id, slug, version limit ${limit}`;
}

function usesByVersions(projectId: ProjectId, after = `0/${firstUuid}`): SQL {
  const [version, program] = after.split("/");
  const project = sql`${uuidOfId(projectId)}::uuid`;
  return sql`select v.version || '/' || p.id as cursor, p.id::text as of, v.program_digest as digest
    from (select s.project_id, s.id from ${standingPrograms} s where (s.project_id, s.id) >= (${project}, ${program}::uuid) and s.project_id <= ${project}
      order by s.project_id, s.id) p
    cross join lateral (
      select v.program_id, v.version, v.program_digest from ${standingVersions} v
      where v.program_id = p.id and v.version > case when p.id = ${program}::uuid then ${version}::int4 else 0 end
      order by v.program_id, v.version limit ${limit}) v
    order by p.project_id, p.id, v.version limit ${limit}`;
}

function declared(table: PgTable): ErasedTable {
  const found = erasedTables.find((one) => one.table === table);
  if (found === undefined) throw new Error(`${getTableName(table)} is not declared`);
  return found;
}
