import { readFile } from "node:fs/promises";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { readSchemaText } from "./schema-text.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

test("schema.sql is the schema of a migrated database: `npm run schema` writes it", async () => {
  const written = await readFile(new URL("../schema.sql", import.meta.url), "utf8");
  expect(await readSchemaText(db.sql)).toBe(written);
});

test("every change of the schema shows in its text", async () => {
  const before = await readSchemaText(db.sql);
  for (const change of [
    "alter table projects add column added text",
    "alter table projects alter column added set default 'x'",
    "alter table projects alter column added set not null",
    "alter table projects set (fillfactor = 50)",
    "alter table projects add constraint named check (name <> '')",
    "create index projects_added on projects (added) where added <> ''",
    "create sequence counted",
    "create function one() returns int4 language sql return 1",
  ]) {
    await db.sql.unsafe(change);
    const after = await readSchemaText(db.sql);
    expect(after, change).not.toBe(before);
  }
  await db.sql.unsafe("create view seen as select 1 as one");
  await expect(readSchemaText(db.sql)).rejects.toThrow("the schema has seen, of kind v");
});
