import { once } from "node:events";
import { createServer } from "node:net";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { afterCommit, openDatabase, withTransaction } from "./connect.ts";
import { isUnavailable, isUniqueViolation } from "./driver.ts";
import { projects } from "./schema/index.ts";
import { statement } from "./sql/statement.ts";

const { db, url, drop } = await createTestDatabase();
afterAll(drop);
await db.sql`create table numbers (n int4 constraint numbers_once unique)`;
const insert = statement("test_insert_number", "insert into numbers values ($1::int4)");

test("a session has UTC, limits and a name", async () => {
  const named = openDatabase({ url, applicationName: "named" });
  const [settings] = await named.sql`
    select current_setting('TimeZone') as zone, current_setting('statement_timeout') as statement,
      current_setting('idle_in_transaction_session_timeout') as idle, current_setting('application_name') as name`;
  expect(settings).toEqual({ zone: "UTC", statement: "30s", idle: "15s", name: "named" });
  await named.close();
});

test("a transaction begun after a full pipeline commits, and later statements are kept", async () => {
  const single = openDatabase({ url, connectionsMax: 1 });
  await insert(single, [1000]);
  const range = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => insert(single, [from + index]));
  const before = range(1001, 100);
  const transaction = single.sql.begin((tx) => insert(tx, [2000]));
  await Promise.all([...before, transaction, ...range(2001, 100)]);
  await single.close();
  const [stored] = await db.sql`select count(*)::int4 as count from numbers where n >= 1000`;
  expect(stored).toEqual({ count: 202 });
});

test("a transaction joins the one it is called in", async () => {
  const failing = withTransaction(db, async (tx) => {
    await withTransaction(tx, (inner) => insert(inner, [1]));
    throw new Error("outer failed");
  });
  await expect(failing).rejects.toThrow("outer failed");
  expect(await db.sql`select n from numbers where n = 1`).toHaveLength(0);
});

test("functions after a commit run after the outermost transaction, and never after a rollback", async () => {
  const told: string[] = [];
  const tell = (what: string) => () => void told.push(what);
  await withTransaction(db, async (tx) => {
    afterCommit(tx, tell("outer"));
    await withTransaction(tx, async (inner) => {
      await insert(inner, [4]);
      afterCommit(inner, tell("inner"));
    });
    expect(told).toEqual([]);
  });
  expect(told).toEqual(["outer", "inner"]);
  const failing = withTransaction(db, async (tx) => {
    afterCommit(tx, tell("lost"));
    throw new Error("rolled back");
  });
  await expect(failing).rejects.toThrow("rolled back");
  afterCommit(db, tell("at once"));
  expect(told).toEqual(["outer", "inner", "at once"]);
});

test("the query builder and a statement share a transaction", async () => {
  await withTransaction(db, async (tx) => {
    await insert(tx, [2]);
    expect(await tx.sql`select n from numbers where n = 2`).toHaveLength(1);
    expect(await tx.orm.$count(projects)).toBe(0);
    const [ids] = await tx.sql`select txid_current()::text as id`;
    const [orm] = await tx.orm.execute("select txid_current()::text as id");
    expect(orm).toEqual(ids);
  });
});

test("a unique violation is distinguished from other errors, and by its constraint", async () => {
  await insert(db, [3]);
  const error = await insert(db, [3]).catch((cause: unknown) => cause);
  expect(isUniqueViolation(error)).toBe(true);
  expect(isUniqueViolation(new Error("wrapped", { cause: error }), "numbers_once")).toBe(true);
  expect(isUniqueViolation(error, "numbers_twice")).toBe(false);
  expect(isUnavailable(error)).toBe(false);
  const other = await db.sql`select 1 / 0`.catch((cause: unknown) => cause);
  expect(isUniqueViolation(other)).toBe(false);
});

test("a server that refuses connections is unavailable", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as { port: number };
  closed.close();
  const nowhere = openDatabase({ url: `postgres://nobody@127.0.0.1:${port}/none` });
  const error = await nowhere.orm.$count(projects).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(isUnavailable(error)).toBe(true);
  await nowhere.close();
});
