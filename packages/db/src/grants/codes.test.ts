import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withTransaction } from "../connect.ts";
import {
  findGrantClient,
  insertGrantClient,
  sweepUnusedGrantClients,
  sweepUsedGrantClients,
  touchGrantClient,
} from "./codes.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

const nowMs = Date.parse("2026-11-26T12:00:00Z");
const register = (id: string, createdAt: number, unusedMax: number) =>
  insertGrantClient(
    database.db,
    { id, name: id, redirectUris: ["https://agent.example/cb"], createdAt, usedAt: null },
    unusedMax,
  );
const ids = async () =>
  (await database.db.sql<{ id: string }[]>`select id from grant_clients order by id`).map(({ id }) => id);

test("many registrations displace the oldest unused clients, never a used one or one that gets its first grant then", async () => {
  const { db } = database;
  for (const [index, id] of ["a_used", "b_oldest", "c_let_in", "d"].entries()) await register(id, nowMs + index, 10);
  await touchGrantClient(db, "a_used", nowMs);
  await register("e", nowMs + 10, 3);
  expect(await ids()).toEqual(["a_used", "c_let_in", "d", "e"]);
  // The first grant of the client `c_let_in` has changed the client's row and is not committed. The concurrent registrations still read the
  // client as unused, and wait for this row.
  let flood: Promise<void> | undefined;
  await withTransaction(db, async (tx) => {
    await touchGrantClient(tx, "c_let_in", nowMs);
    flood = register("f", nowMs + 11, 3);
    await until(async () => {
      const waits = await db.sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%grant_clients%'`;
      return waits.length > 0;
    }, "the flood waits for the client that is let in");
  });
  await flood;
  expect(await findGrantClient(db, "c_let_in")).toMatchObject({ usedAt: nowMs });
  expect(await ids()).toEqual(["a_used", "c_let_in", "d", "e", "f"]);
});

test("a sender with many registrations displaces its own clients, and an unused one of another sender stays", async () => {
  const { db } = database;
  await db.sql`delete from grant_clients`;
  // In an id of a client, the characters after `client_` identify the address that registered the client.
  await register("client_honestA", nowMs, 5);
  for (let index = 0; index < 20; index++) await register(`client_floods${index}`, nowMs + 1 + index, 5);
  await register("client_secondB", nowMs + 30, 5);
  for (let index = 20; index < 40; index++) await register(`client_floods${index}`, nowMs + 31 + index, 5);
  expect(await ids()).toEqual([
    "client_floods37",
    "client_floods38",
    "client_floods39",
    "client_honestA",
    "client_secondB",
  ]);
});

test("a sweep removes no client that was used since, by the times that it is given", async () => {
  const { db } = database;
  await db.sql`delete from grant_clients`;
  for (const id of ["idle", "used"]) await register(id, nowMs, 10);
  await touchGrantClient(db, "used", nowMs);
  const sweep = async (ms: number) => [
    await sweepUnusedGrantClients(db, ms, 10),
    await sweepUsedGrantClients(db, ms, 10),
  ];
  expect(await sweep(nowMs)).toEqual([0, 0]);
  expect(await sweepUnusedGrantClients(db, nowMs + 1, 10)).toBe(1);
  expect(await ids()).toEqual(["used"]);
  expect(await sweep(nowMs + 1)).toEqual([0, 1]);
});
