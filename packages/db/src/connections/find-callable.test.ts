import { createId } from "@svc/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../connect.ts";
import { accessOf, addProject, explain, nowMs } from "../test-rows.ts";
import { createTestDatabase, type TestDatabase } from "../testing.ts";
import { findActiveAccounts, findCallableAccount } from "./find-callable.ts";
import { listDueRefreshes } from "./refresh.ts";

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.db;
});
afterAll(() => database.drop());

/** 3,000 accounts of one project, a tenth of them active, each of an entity of its own. */
async function fill() {
  const projectId = await addProject(db);
  const firstId = createId("acc", nowMs);
  await db.sql`
    insert into connected_accounts (id, project_id, toolkit_slug, is_private, entity_id, scheme, state, variables, created_at, updated_at, refresh_at)
    select gen_random_uuid(), p.id, 'tracker', false, 'entity-' || n, 'oauth2',
      case when n % 10 = 0 then 'active' else 'superseded' end, '{"a":"b"}', now(), now(), ${new Date(nowMs).toISOString()}::timestamptz + n * interval '1 minute'
    from projects p, generate_series(1, 3000) as n`;
  await db.sql`analyze connected_accounts`;
  return { projectId, firstId };
}

test("the accounts of calls are found by their indexes, and so is what is due for renewal", async () => {
  const { projectId, firstId } = await fill();
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
  expect(await listDueRefreshes(db, due)).toHaveLength(2);
  expect(await listDueRefreshes(db, { ...due, isSandbox: true })).toEqual([]);
  for (const mode of ["custom", "generic"] as const) {
    const active = await explain(db, "find_active_accounts", mode, (tx) => findActiveAccounts(tx, query));
    expect(accessOf(active, "connected_accounts")).toEqual(["connected_accounts_active"]);
    const named = await explain(db, "find_callable_account", mode, (tx) => findCallableAccount(tx, projectId, firstId));
    expect(accessOf(named, "connected_accounts")).toEqual([expect.stringMatching(/_(?:pkey|project)$/)]);
    const plan = await explain(db, "list_due_refreshes", mode, (tx) => listDueRefreshes(tx, { ...due, limit: 64 }));
    expect(accessOf(plan, "connected_accounts")).toEqual(["connected_accounts_refresh"]);
  }
});
