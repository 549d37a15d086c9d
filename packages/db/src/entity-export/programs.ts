import { uuidOfId } from "@svc/core";
import { getTableName, type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Executor } from "../connect.ts";
import { type ErasedTable, erasedTables, type NamedEntity } from "../schema/erased-tables.ts";
import { jobs, skills, standingPrograms, standingVersions } from "../schema/index.ts";
import { rowsOfEntity } from "./membership.ts";

type Use = { readonly id: string; readonly of: string; readonly digest: Buffer };

const pageMax = 500;

/**
 * The digests of programs that an entity's jobs, skills or standing programs run, and no others of the project. They are looked for page by page;
 * what is held meanwhile is a digest for each program of the project.
 */
export async function programsOfEntityAlone(db: Executor, named: NamedEntity): Promise<Buffer[]> {
  const [own, others] = [new Set<string>(), new Set<string>()];
  const project = sql`${uuidOfId(named.projectId)}::uuid`;
  const uses: readonly (readonly [PgTable, SQL])[] = [
    [jobs, sql`select id, id as of, program_digest as digest from ${jobs} where project_id = ${project}`],
    [
      jobs,
      sql`select md5(slug || '/' || version)::uuid as id, job_id as of, program_digest as digest from ${skills} where project_id = ${project}`,
    ],
    [
      standingPrograms,
      sql`select md5(v.program_id::text || '/' || v.version)::uuid as id, v.program_id as of, v.program_digest as digest
        from ${standingVersions} v where v.program_id in (select id from ${standingPrograms} where project_id = ${project})`,
    ],
  ];
  for (const [table, query] of uses) {
    for await (const rows of pages(db, query)) {
      const theirs = await rowsOfEntity(db, named, declared(table), [...new Set(rows.map(({ of }) => of))]);
      for (const { of, digest } of rows) (theirs.has(of) ? own : others).add(digest.toString("latin1"));
    }
  }
  return [...own].filter((digest) => !others.has(digest)).map((digest) => Buffer.from(digest, "latin1"));
}

async function* pages(db: Executor, query: SQL): AsyncGenerator<Use[]> {
  for (let after: string | undefined; ; ) {
    const behind = after === undefined ? sql`true` : sql`u.id > ${after}::uuid`;
    // By the id itself, which an index has in order: the bare name would be the text that is selected, and each page would sort all rows.
    const rows = await db.orm.execute<Use>(
      sql`select u.id::text, u.of::text, u.digest from (${query}) u where ${behind} order by u.id limit ${pageMax}::int4`,
    );
    if (rows.length > 0) yield [...rows];
    after = rows.at(-1)?.id;
    if (rows.length < pageMax) return;
  }
}

function declared(table: PgTable): ErasedTable {
  const found = erasedTables.find((one) => one.table === table);
  if (found === undefined) throw new Error(`${getTableName(table)} is not declared`);
  return found;
}
