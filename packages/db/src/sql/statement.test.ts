import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { withTransaction } from "../connect.ts";
import { statement } from "./statement.ts";

const { db, drop } = await createTestDatabase({ isEmpty: true, connectionsMax: 1 });
afterAll(drop);

async function preparedCount(name: string): Promise<number> {
  const like = `/* ${name} */%`;
  const [row] = await db.sql<[{ count: number }]>`
    select count(*)::int4 as count from pg_prepared_statements where statement like ${like}`;
  return row.count;
}

test("a statement is prepared once per connection, for values of any type", async () => {
  const echo = statement<{ a: string; b: boolean }>(
    "test_echo",
    "select $1::text as a, $2::bool as b, $3::int8 as c, $4::bytea as d",
  );
  const first = await echo(db, ["x", true, 5n, Buffer.from("y")]);
  const second = await echo(db, ["x", false, 5, new Uint8Array([121])]);
  const third = await echo(db, [null, null, null, null]);
  expect([...first, ...second, ...third]).toEqual([
    { a: "x", b: true, c: "5", d: Buffer.from("y") },
    { a: "x", b: false, c: "5", d: Buffer.from("y") },
    { a: null, b: null, c: null, d: null },
  ]);
  expect(await preparedCount("test_echo")).toBe(1);
});

test("a statement without parameters is prepared as well", async () => {
  const one = statement<{ one: number }>("test_one", "select 1 as one");
  expect(await one(db, [])).toEqual([{ one: 1 }]);
  expect(await preparedCount("test_one")).toBe(1);
});

test("a statement says how many rows it changed", async () => {
  await db.sql`create table counted (n int4)`;
  const insert = statement("test_insert_counted", "insert into counted select generate_series(1, $1::int4)");
  expect((await insert(db, [7])).count).toBe(7);
});

test("a value stays the same when the schema changes under a prepared statement", async () => {
  await db.sql`create table changing (n int4)`;
  await db.sql`insert into changing values (1)`;
  const read = statement<{ flag: boolean; bytes: Buffer }>(
    "test_changing",
    "select *, $1::bool as flag, $2::bytea as bytes from changing",
  );
  const values = [true, Buffer.from("hi")] as const;
  await read(db, values);
  await db.sql`alter table changing add column added text`;
  expect(await read(db, values)).toEqual([{ n: 1, added: null, flag: true, bytes: Buffer.from("hi") }]);
  await db.sql`alter table changing drop column added`;
  const unsafe = await db.sql.unsafe("select *, $1::bool as flag, $2::bytea as bytes from changing", [...values], {
    prepare: true,
  });
  await db.sql`alter table changing add column added text`;
  const again = await db.sql.unsafe("select *, $1::bool as flag, $2::bytea as bytes from changing", [...values], {
    prepare: true,
  });
  expect({ ...again[0] }).toEqual({ ...unsafe[0], added: null });
});

test("a statement in a transaction goes with it", async () => {
  await db.sql`create table joined (n int4)`;
  const insert = statement("test_insert_joined", "insert into joined values ($1::int4)");
  const failing = withTransaction(db, async (tx) => {
    await insert(tx, [1]);
    throw new Error("rolled back");
  });
  await expect(failing).rejects.toThrow("rolled back");
  await db.sql.begin((tx) => insert(tx, [2]));
  expect(await db.sql`select n from joined`).toEqual([{ n: 2 }]);
});
