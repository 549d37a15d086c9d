import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countSourcesWithChanges } from "../catalog/watched-sources.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { countPortalSessions } from "../console/portal.ts";
import { countPacedDeliveries, countPendingDeliveries } from "../deliveries/repo.ts";
import { nowMs } from "../test-rows.ts";
import { readDeploymentHealth } from "./health.ts";

// The metrics that svc reads from the database, on a store in which each of them has more rows than it may read.

const { db, drop } = await createTestDatabase();
afterAll(drop);

/** Maximum number of rows and index entries that one metric may read. */
const rowsMax = 250_000;

beforeAll(async () => {
  const at = "'2026-01-05T08:00:00Z'::timestamptz";
  const uuid = (n: string, kind: number) => `('00000000-0000-7000-8${kind}00-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
  const owner = uuid("1", 1);
  await db.sql.unsafe(`insert into projects (id, name, created_at) values (${owner}, 'p', ${at})`);
  // 300,000 live keys of portal links, of which none is opened.
  await db.sql.unsafe(
    `insert into api_keys (id, project_id, role, name, digest, hint, created_at, purpose, entity_id, expires_at)
     select ${uuid("n", 2)}, ${owner}, 'member', '', decode(lpad(to_hex(n), 64, '0'), 'hex'), '', ${at}, 'portal', 'e' || n, ${at} + interval '1 day'
     from generate_series(1, 300000) n`,
  );
  // 20,000 subscriptions of each kind: healthy, with a pace, failing.
  await db.sql.unsafe(
    `insert into subscriptions (id, project_id, endpoint_url, toolkit_slug, trigger_slug, signing_secret, created_at, failing_since, settings)
     select ${uuid("n", 3)}, ${owner}, '', '', '', '', ${at}, case when n % 3 = 2 then ${at} end,
       case when n % 3 = 1 then '{"pace":{"max":1,"perMs":1000}}'::jsonb else '{}'::jsonb end
     from generate_series(1, 60000) n`,
  );
  await db.sql.unsafe(
    `insert into subscription_paces (subscription_id, at) select ${uuid("n", 3)}, 0 from generate_series(1, 60000) n where n % 3 = 1`,
  );
  // 360,000 tasks of them: current ones, retries that are due, and those of throttled replays.
  await db.sql.unsafe(
    `insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at, epoch)
     select ${uuid("n", 4)}, ${owner}, ${uuid("1 + n % 60000", 3)}, ${uuid("n", 5)}, ${at},
       case n / 60000 when 0 then 0 when 1 then -(select epoch from delivery_epoch) else (select epoch from delivery_epoch) end
     from generate_series(0, 359999) n`,
  );
  for (const table of ["job_tasks (job_id", "due_tasks (owner_id"])
    await db.sql.unsafe(
      `insert into ${table}, kind, subject, project_id, due_at, lease_until)
       select ${uuid("n", 6)}, 'run', '', ${owner}, ${at}, ${at} + interval '1 day' from generate_series(1, 300000) n`,
    );
  await db.sql.unsafe("analyze");
}, 300_000);

/**
 * Returns the number of rows and index entries that the connection has read. PostgreSQL counts them per connection, until it reports them.
 */
async function readSoFar(tx: Executor): Promise<number> {
  const [row] = await tx.sql.unsafe<{ count: number }[]>(
    `select sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid))::float8 as count
     from pg_class where relkind in ('r', 'i') and relnamespace = 'public'::regnamespace`,
  );
  return row?.count ?? 0;
}

/** Runs work in a transaction, and returns the number of rows and index entries that it has read. */
async function rowsRead(work: (tx: Executor) => Promise<unknown>): Promise<number> {
  return withTransaction(db, async (tx) => {
    const before = await readSoFar(tx);
    await work(tx);
    return (await readSoFar(tx)) - before;
  });
}

const metrics: Record<string, (tx: Executor) => Promise<unknown>> = {
  svc_delivery_backlog: countPendingDeliveries,
  svc_delivery_paced_waiting: (tx) => countPacedDeliveries(tx, nowMs),
  svc_portal_sessions: (tx) => countPortalSessions(tx, nowMs),
  svc_toolkit_changes_waiting: (tx) => countSourcesWithChanges(tx, 10_000),
  "health of the deployment": (tx) => readDeploymentHealth(tx, nowMs),
};

test.each(Object.entries(metrics))("%s reads a bounded number of rows on a big store", async (_, read) => {
  expect(await rowsRead(read)).toBeLessThan(rowsMax);
});
