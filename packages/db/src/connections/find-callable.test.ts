import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../connect.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { findActiveAccounts, findCallableAccount } from "./find-callable.ts";
import { listDueAccountRefreshes } from "./refresh.ts";

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.db;
});
afterAll(() => database.drop());

/** Adds 100 accounts to one project. A tenth of them are active. Each belongs to a different entity. */
async function fill() {
  const projectId = await addProject(db);
  await db.sql`
    insert into connected_accounts (id, project_id, toolkit_slug, is_private, entity_id, scheme, state, variables, created_at, updated_at, refresh_at)
    select gen_random_uuid(), p.id, 'tracker', false, 'entity-' || n, 'oauth2',
      case when n % 10 = 0 then 'active' else 'superseded' end, '{"a":"b"}', now(), now(), ${new Date(nowMs).toISOString()}::timestamptz + n * interval '1 minute'
    from projects p, generate_series(1, 100) as n`;
  return projectId;
}

test("the active accounts of an entity are found by their definition, one by its id, and what is due for renewal by its time", async () => {
  const projectId = await fill();
  const query = { projectId, toolkitSlug: "tracker", isPrivate: false, isSandbox: false, entityId: "entity-20" };
  const rows = await findActiveAccounts(db, query);
  expect(rows).toMatchObject([
    { entityId: "entity-20", state: "active", variables: { a: "b" }, grantedScopes: [], expiresAt: null },
  ]);
  expect(await findActiveAccounts(db, { ...query, isPrivate: true })).toEqual([]);
  expect(await findActiveAccounts(db, { ...query, isSandbox: true })).toEqual([]);
  expect(await findActiveAccounts(db, { ...query, entityId: "entity-21" })).toEqual([]);
  expect(await findCallableAccount(db, projectId, rows[0]!.id)).toEqual(rows[0]);
  expect(await findCallableAccount(db, await addProject(db), rows[0]!.id)).toBeUndefined();
  const due = { isSandbox: false, nowMs: nowMs + 30 * 60_000, limit: 2 };
  expect(await listDueAccountRefreshes(db, due)).toHaveLength(2);
  expect(await listDueAccountRefreshes(db, { ...due, isSandbox: true })).toEqual([]);
});
