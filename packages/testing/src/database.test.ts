import { afterAll, expect, test } from "vitest";
import { createTestDatabase } from "./database.ts";

const database = await createTestDatabase();
afterAll(() => database.drop());

test("a test database has the schema and belongs to one file", async () => {
  const other = await createTestDatabase();
  await database.db.sql`create table only_here (n int4)`;
  const tables = await other.db.sql<
    { name: string }[]
  >`select tablename as name from pg_tables where schemaname = 'public'`;
  expect(tables.map(({ name }) => name)).toContain("projects");
  expect(tables.map(({ name }) => name)).not.toContain("only_here");
  await other.drop();
});

test("a dropped test database is gone, also when somebody is still connected to it", async () => {
  const other = await createTestDatabase();
  await other.db.sql`select 1`;
  await other.drop();
  const left = await database.db.sql`select 1 from pg_database where datname = ${new URL(other.url).pathname.slice(1)}`;
  expect(left).toHaveLength(0);
});

test("a filled database is filled once a run, and each has its own copy", async () => {
  let fills = 0;
  const filled = {
    name: `filled_${process.pid}`,
    fill: async ({ sql }: typeof database.db) => {
      fills++;
      await sql`create table filled (n int4)`;
    },
  };
  const [one, other] = [await createTestDatabase({ filled }), await createTestDatabase({ filled })];
  await one.db.sql`insert into filled values (1)`;
  expect(await other.db.sql`select n from filled`).toEqual([]);
  expect(fills).toBe(1);
  await Promise.all([one.drop(), other.drop()]);
});
