import postgres from "postgres";
import type { BenchContext } from "../case.ts";
import { type Costs, costsEach, readCosts } from "../costs.ts";
import { delay } from "../monotonic.ts";
import type { BenchDatabase } from "../postgres.ts";
import { createProgram, idleProgram, withNodes } from "./setting.ts";

/** Cost of a node and its store in a minute while nothing is due. */
export type IdleCosts = {
  readonly schedules: number;
  /** Statements in the node's database in a minute. Undefined without pg_stat_statements. */
  readonly statements: number | undefined;
  /** Cost of a minute: processor time in microseconds, commits and bytes of the log. */
  readonly costs: Costs;
};

/** Milliseconds to wait until the work of a start is done. */
const settleMs = 5_000;

/** Measures a node without schedules, and one with many schedules that are due in years. */
export async function measureIdle(ctx: BenchContext, schedules: number): Promise<IdleCosts[]> {
  return [await idle(ctx, 0), await idle(ctx, schedules)];
}

async function idle(ctx: BenchContext, schedules: number): Promise<IdleCosts> {
  const { seconds = 60 } = ctx.settings;
  const database = await ctx.postgres.createDatabase("bench_idle");
  try {
    return await withNodes(ctx, database, { count: 1, post: "calendar" }, async ([node]) => {
      if (schedules > 0) {
        await createProgram(node, "yearly", {
          source: { schedule: { cron: ["0 0 1 1 *"] } },
          program: idleProgram("Once a year"),
        });
        await copyPrograms(database, schedules - 1);
      }
      ctx.progress(`${schedules.toLocaleString("en-US")} schedules, nothing due, ${seconds} s`);
      await delay(settleMs);
      const statementsBefore = await statementsOf(ctx, database.name);
      const before = await readCosts(ctx, node);
      await delay(seconds * 1_000);
      const costs = costsEach(before, await readCosts(ctx, node), seconds / 60);
      const statementsAfter = await statementsOf(ctx, database.name);
      const isCounted = statementsBefore !== undefined && statementsAfter !== undefined;
      const statements = isCounted ? ((statementsAfter - statementsBefore) * 60) / seconds : undefined;
      return { schedules, statements, costs };
    });
  } finally {
    await database.drop();
  }
}

/** Copies the rows of a program. The copies are never loaded, since none of them is due. */
async function copyPrograms({ url }: BenchDatabase, count: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await sql`create temporary table copies as
      select p.id as original, gen_random_uuid() as id, n from standing_programs p cross join generate_series(1, ${count}::int4) n`;
    for (const table of ["standing_programs", "standing_versions", "due_tasks"]) await copyTable(sql, table);
    await sql`vacuum analyze`;
  } finally {
    await sql.end();
  }
}

/** Copies the row of the only program. All columns except its id and its slug stay the same. */
async function copyTable(sql: postgres.Sql, table: string): Promise<void> {
  const columns = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns where table_name = ${table} and table_schema = 'public'`;
  const key = { standing_programs: "id", standing_versions: "program_id", due_tasks: "owner_id" }[table] ?? "id";
  const values = columns.map(({ name }) => {
    if (name === key) return "c.id";
    return name === "slug" ? "t.slug || '-' || c.n" : `t.${name}`;
  });
  const names = columns.map(({ name }) => name).join(", ");
  await sql.unsafe(
    `insert into ${table} (${names}) select ${values.join(", ")} from copies c join ${table} t on t.${key} = c.original`,
  );
}

/** Returns the number of statements in a database so far. Undefined without pg_stat_statements. */
async function statementsOf(ctx: BenchContext, name: string): Promise<number | undefined> {
  return ctx.isStatementsKept ? ctx.postgres.countStatements(name) : undefined;
}
