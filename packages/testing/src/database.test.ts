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
  const connected = await other.db.sql.reserve();
  await connected`select 1`;
  connected.release();
  await other.drop();
  const left = await database.db.sql`select 1 from pg_database where datname = ${new URL(other.url).pathname.slice(1)}`;
  expect(left).toHaveLength(0);
});
