import { firstUuidAt, uuidOfId } from "@svc/core";
import { eq, type SQL, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { jobPrograms, jobs, skills } from "../schema/jobs.ts";
import { erasurePrograms } from "../schema/projects.ts";
import { standingPrograms, standingVersions } from "../schema/standing.ts";
import type { Erasure } from "./repo.ts";
import { cursorOf, nextOfProject } from "./walk.ts";

const jobsLookedAtMax = 2_000;
/** So long ago at most a transaction began that is committed now, the clocks of nodes apart. */
const lateMs = 60_000;

/** Where a look at the programs that were noted stands: `after` is the last job that was looked at, undefined at the end. */
type ProgramsLook = { readonly after: string | undefined; readonly deleted: number };

/**
 * Goes through the jobs of the project for those that use a noted program still, and at their end deletes the programs that nothing uses. Jobs have no index by
 * their program, which each submission would pay for: erasures are rare, and go through them anyway.
 */
export async function erasePrograms(tx: Executor, erasure: Erasure, nowMs: number): Promise<ProgramsLook> {
  const [noted] = await tx.orm.select().from(erasurePrograms).where(eq(erasurePrograms.erasureId, erasure.id)).limit(1);
  if (noted === undefined) return { after: undefined, deleted: 0 };
  const { projectId, atKey: after } = erasure;
  const next = nextOfProject({ table: jobs }, { projectId, after, limit: jobsLookedAtMax });
  const page = sql`select n.place, n.id, j.program_digest
    from (${next}) n cross join lateral (select * from ${jobs} where id = n.id offset 0) j`;
  const looked = await tx.orm.execute<{ place: string; id: string; count: number }>(
    sql`with page as materialized (${page}), used as (
      delete from ${erasurePrograms} using page where ${isNotedAs(erasure, sql`page.program_digest`)})
    select place::text as place, id::text as id, (count(*) over ())::int4 as count from page order by page.place desc, page.id desc limit 1`,
  );
  const [last] = looked;
  if (last?.count === jobsLookedAtMax) return { after: cursorOf(last), deleted: 0 };
  return { after: undefined, deleted: await deleteUnused(tx, erasure, nowMs) };
}

/**
 * Whoever stores a job stores its program where that is not there, in one transaction: with the table locked against that, each has either committed
 * and is seen here, or finds that the program is gone, and stores it anew.
 */
async function deleteUnused(tx: Executor, erasure: Erasure, nowMs: number): Promise<number> {
  const project = sql`${uuidOfId(erasure.projectId)}::uuid`;
  await tx.orm.execute(sql`set local lock_timeout = '2s'`);
  await tx.orm.execute(sql`lock table ${jobPrograms} in share mode`);
  const uses = [
    sql`select program_digest from ${jobs} where id >= ${firstUuidAt(nowMs - lateMs)}::uuid and project_id = ${project}`,
    sql`select program_digest from ${skills} where project_id = ${project}`,
    sql`select v.program_digest from ${standingVersions} v
      where v.program_id in (select id from ${standingPrograms} where project_id = ${project})`,
  ];
  for (const use of uses)
    await tx.orm.execute(
      sql`with used as materialized (${use}) delete from ${erasurePrograms} using used where ${isNotedAs(erasure, sql`used.program_digest`)}`,
    );
  const gone = await tx.orm.execute<{ found: number }>(sql`delete from ${jobPrograms} using ${erasurePrograms}
    where ${jobPrograms.projectId} = ${project} and ${isNotedAs(erasure, sql`${jobPrograms.digest}`)} returning 1 as found`);
  await tx.orm.delete(erasurePrograms).where(eq(erasurePrograms.erasureId, erasure.id));
  return gone.length;
}

function isNotedAs({ id }: Erasure, digest: SQL): SQL {
  return sql`${erasurePrograms.erasureId} = ${uuidOfId(id)}::uuid and ${erasurePrograms.digest} = ${digest}`;
}
