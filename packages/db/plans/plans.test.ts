import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createTestDatabase } from "@svc/testing/database";
import { getTableName } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withTransaction } from "../src/connect.ts";
import { erasedTables } from "../src/schema/erased-tables.ts";
import { statementNames } from "../src/sql/statement.ts";
import { explainAll, type PlanMode, type SentStatement, sentBy } from "./planner/explain.ts";
import { type Plan, plans } from "./planner/plan.ts";
import { type PlannedReads, recordingOf } from "./planner/recording.ts";
import { forgetStatistics, type Statistics, seeded } from "./planner/seed.ts";
import { sourcesIn, watchQueries } from "./planner/unrun-queries.ts";

// Every statement of packages/db has a plan in this folder. plans.snap records which tables and indexes each reads, for all states of the
// statistics. After a change, record again with `npx vitest run packages/db/plans/plans.test.ts -u` and review the difference.

/** A statement that was sent when a plan ran, and the query plans of this statement. */
type RecordedRun = {
  readonly name: string;
  readonly plan: Plan;
  readonly sent: SentStatement;
  readonly planned: PlannedReads[];
};

/** The PostgreSQL of plans.snap, which is the embedded one. Others plan differently: from version 18 on, searches skip within an index. */
const recordedOn = 18;

/** Tables with only a few rows: one in all, or one per node, restore or rotation of the vault key. */
const smallTables = ["old_subkeys", "restores", "routing_state", "vault_nodes", "vault_rotations"];

const modes: readonly PlanMode[] = ["custom", "generic"];
const everyStatistics: readonly Statistics[] = ["fresh", "stale", "absent"];
const recorded: RecordedRun[] = [];
/** Statements that each plan sent when it ran. */
const sent = new Map<Plan, readonly SentStatement[]>();
/** Places in packages/db that send a query and that no plan runs. */
let unrun: string[] = [];

for (const file of readdirSync(import.meta.dirname)) {
  if (file.endsWith(".ts") && !file.endsWith(".test.ts")) await import(join(import.meta.dirname, file));
}

// Running statements leaves dead rows, which change query plans. So the statements run on this copy, and query plans are made on another
// copy. A recording is then the same each time.
const running = await createTestDatabase({ filled: seeded });
const { db, drop } = await createTestDatabase({ filled: seeded });
afterAll(async () => {
  await running.drop();
  await drop();
});

beforeAll(async () => {
  const folder = join(import.meta.dirname, "../src");
  const sources = sourcesIn(folder);
  for (const file of sources) await import(join(folder, file));
  const takeUnrun = await watchQueries(folder, sources);
  for (const plan of plans) recorded.push(...(await recordedOf(plan)));
  unrun = await takeUnrun();
  await planAll("stale");
  await forgetStatistics(db);
  await planAll("absent");
  await analyze();
  await planAll("fresh");
  // On a busy machine, thousands of query plans take longer than the default limit of this hook.
}, 600_000);

/** Collects statistics from all rows of all tables. A sample of rows would make query plans differ between test runs. */
async function analyze(): Promise<void> {
  await withTransaction(db, async ({ sql }) => {
    await sql.unsafe("set local default_statistics_target = 200; analyze");
  });
}

async function planAll(statistics: Statistics): Promise<void> {
  const asked = recorded.filter(({ plan }) => (plan.statistics ?? everyStatistics).includes(statistics));
  const statements = asked.map((one) => one.sent);
  for (const mode of modes) {
    const reads = await explainAll(db, statements, { mode });
    for (const [index, { planned }] of asked.entries()) {
      const found = reads[index];
      if (found !== undefined) planned.push({ mode, statistics, reads: found });
    }
  }
}

/** Runs a plan. Returns the statements that it sent, with their query plans. */
async function recordedOf(plan: Plan): Promise<RecordedRun[]> {
  const isMeant = (text: string) => plan.names.some((name) => isNamed(text, statementOf(name) ?? ""));
  const all = await sentBy(running.db, plan.run, plan.isSlow === true ? isMeant : undefined);
  sent.set(plan, all);
  const queries = all.filter(({ text }, index) => isQuery(text) && all.findIndex((one) => one.text === text) === index);
  return plan.names.flatMap((name) => {
    const statement = statementOf(name);
    const found = statement === undefined ? queries : all.filter(({ text }) => isNamed(text, statement)).slice(0, 1);
    if (found.length === 0) throw new Error(`${name} was not run, but ${all.map(({ text }) => text.slice(0, 40))}`);
    return found.map((one): RecordedRun => ({ name, plan, sent: one, planned: [] }));
  });
}

/** Returns the statement that a plan's name refers to; undefined if there is none. */
function statementOf(name: string): string | undefined {
  const [statement = ""] = name.split(",");
  return statementNames().includes(statement) ? statement : undefined;
}

function isNamed(text: string, statement: string): boolean {
  return text.startsWith(`/* ${statement} */`);
}

/** True if a text is a query that PostgreSQL plans and that has no name. */
function isQuery(text: string): boolean {
  return !/^(?:\/\* |set local |savepoint |release |rollback |lock table |truncate |declare |fetch |close )/.test(text);
}

test("what every statement reads is as recorded", async ({ skip }) => {
  const [server] = await db.sql`select current_setting('server_version_num')::int4 / 10000 as major`;
  skip(server?.["major"] !== recordedOn, `plans.snap is of PostgreSQL ${recordedOn}`);
  expect(
    recorded.filter(({ plan, planned }) => planned.length !== 2 * (plan.statistics ?? everyStatistics).length),
  ).toEqual([]);
  await expect(recordingOf(recorded)).toMatchFileSnapshot("plans.snap");
});

test("every statement has a plan", () => {
  const known = new Set(recorded.map(({ name }) => statementOf(name)));
  // Other tests, which may run in the same process, name their statements `test_…`.
  expect(statementNames().filter((name) => !known.has(name) && !name.startsWith("test_"))).toEqual([]);
});

test("every query is run by a plan", () => {
  expect(unrun).toEqual([]);
});

test("every query that the run of a plan sends is recorded", () => {
  const known = new Set(recorded.map((one) => one.sent.text));
  const all = [...sent.values()].flat().map(({ text }) => text);
  expect(all.filter((text) => isQuery(text) && !known.has(text))).toEqual([]);
});

test("no two plans have the same name", () => {
  const names = plans.flatMap((one) => one.names);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("nothing reads a table as a whole, but those that are small", () => {
  const whole = recorded.flatMap(({ name, plan, planned }) =>
    planned.flatMap(({ mode, statistics, reads }) =>
      Object.entries(reads.access).flatMap(([table, found]) =>
        found.includes("Seq Scan") && !smallTables.includes(table) && plan.wholeReads?.includes(table) !== true
          ? [`${name} reads ${table} (${mode} plan, ${statistics} statistics)`]
          : [],
      ),
    ),
  );
  expect(whole).toEqual([]);
});

test("every index is read by a statement", async () => {
  const rows = await db.sql<{ name: string }[]>`
    select indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and not i.indisunique order by 1`;
  const reads = recorded.flatMap(({ planned }) => planned.flatMap((one) => Object.values(one.reads.access).flat()));
  const read = new Set(reads.map((one) => one.split("(")[0]));
  // A unique index is needed even if no statement reads it, because it is also a rule.
  expect(rows.map(({ name }) => name).filter((name) => !read.has(name))).toEqual([]);
});

const bounded = plans.filter(({ rowsMax }) => rowsMax).map((one) => [one.names.join(", "), one] as const);

test.each(bounded)("%s reads no more rows than it must", async (_, { names, rowsMax }) => {
  const statements = recorded.filter(({ name }) => names.includes(name)).map((one) => one.sent);
  for (const mode of modes) {
    for (const { rows } of await explainAll(db, statements, { mode, isRun: true })) {
      for (const [table, max] of Object.entries(rowsMax ?? {})) {
        expect(rows[table] ?? 0, `${table}, ${mode} plan`).toBeLessThanOrEqual(max);
      }
    }
  }
});

test("an erasure and an export come to every way by which rows go with others", () => {
  const textsOf = (name: string) =>
    [...sent].flatMap(([{ names }, all]) => (names.includes(name) ? all.map(({ text }) => text) : []));
  const [erased, exported] = [textsOf("erase an entity"), textsOf("export an entity")];
  const missing = erasedTables.flatMap(({ table, parents = [] }) =>
    parents.flatMap((parent) => {
      const [name, other] = [getTableName(table), getTableName(parent.table)];
      const isErased = erased.some((text) => text.includes(`"${name}"`) && text.includes(`(select * from "${other}"`));
      const pages = exported.filter(
        (text) => text.includes(`(select "${name}".*`) && text.includes(`(select * from "${other}"`),
      );
      return isErased && pages.length > 1 ? [] : [`${name} of ${other}`];
    }),
  );
  expect(missing).toEqual([]);
});
