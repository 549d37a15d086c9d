import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isUnavailable } from "./driver.ts";
import { recordEvents } from "./events/record.ts";
import { MigrationRefusedError, migrateDatabase, migrationsFolder } from "./migrate.ts";
import { newEvent, nowMs } from "./test-rows.ts";

const { db, url, drop } = await createTestDatabase({ isEmpty: true });
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-migrations-"));
});
afterAll(async () => {
  await drop();
  await rm(folder, { recursive: true });
});

/** Copies the folder of migrations, and adds a migration with the date `when`. */
async function withMigration(name: string, when: number): Promise<string> {
  const copy = join(folder, name);
  await cp(migrationsFolder, copy, { recursive: true });
  const journalPath = join(copy, "meta", "_journal.json");
  const journal = JSON.parse(await readFile(journalPath, "utf8")) as { entries: unknown[] };
  journal.entries.push({ idx: journal.entries.length, version: "7", when, tag: name, breakpoints: true });
  await writeFile(journalPath, JSON.stringify(journal));
  await writeFile(join(copy, `${name}.sql`), `create table "${name}" (n int4)`);
  return copy;
}

/** Copies the migrations up to and including the one named `tag`. */
async function upTo(tag: string): Promise<string> {
  const copy = join(folder, tag);
  await cp(migrationsFolder, copy, { recursive: true });
  const journalPath = join(copy, "meta", "_journal.json");
  const journal = JSON.parse(await readFile(journalPath, "utf8")) as { entries: { tag: string }[] };
  journal.entries.length = journal.entries.findIndex((entry) => entry.tag === tag) + 1;
  await writeFile(journalPath, JSON.stringify(journal));
  return copy;
}

async function appliedCount(): Promise<number> {
  const [row] = await db.sql<[{ count: number }]>`select count(*)::int4 as count from drizzle.__drizzle_migrations`;
  return row.count;
}

test("eight nodes may migrate an empty database at once, and again", async () => {
  await Promise.all(Array.from({ length: 8 }, () => migrateDatabase(url)));
  const applied = await appliedCount();
  expect(applied).toBeGreaterThan(0);
  await migrateDatabase(url);
  expect(await appliedCount()).toBe(applied);
  expect(await db.sql`select to_regclass('public.projects') is not null as exists`).toEqual([{ exists: true }]);
});

test("a start that waits says at once what it waits for: a server that does not answer, or the migration of another node", async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on("error", () => {}))).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const waits: string[] = [];
  const { port } = silent.address() as AddressInfo;
  const unanswered = migrateDatabase(`postgres://a:b@127.0.0.1:${port}/svc`, migrationsFolder, (text) => {
    waits.push(text);
    silent.close();
    for (const socket of sockets) socket.destroy();
  });
  await expect(unanswered).rejects.toSatisfy(isUnavailable);
  expect(waits).toEqual([expect.stringContaining("the database accepts no connection yet; waiting up to 20 s")]);

  const other = await db.sql.begin(async (lock) => {
    await lock`select pg_advisory_xact_lock(${0x737663})`;
    const told = Promise.withResolvers<string>();
    const waiting = migrateDatabase(url, migrationsFolder, told.resolve);
    return { text: await told.promise, waiting: waiting.catch((error: unknown) => error) };
  });
  expect(other.text).toContain("another svc migrates the database");
  await other.waiting;
});

test("a migration dated before the database's last one is reported, not skipped in silence", async () => {
  await migrateDatabase(url);
  const older = await withMigration("older", 1);
  await expect(migrateDatabase(url, older)).rejects.toThrow("migrations dated 1 are older");
});

test("a database that a newer version migrated is refused and left alone", async () => {
  const newer = await withMigration("newer", 9_999_999_999_999);
  await migrateDatabase(url, newer);
  const applied = await appliedCount();
  await expect(migrateDatabase(url)).rejects.toThrow(MigrationRefusedError);
  await expect(migrateDatabase(url)).rejects.toThrow("1 migration(s) that this version of svc does not know");
  expect(await appliedCount()).toBe(applied);
});

test("posts that were accepted before keys were kept by their digest are duplicates after it", async () => {
  const store = await createTestDatabase({ isEmpty: true });
  await migrateDatabase(store.url, await upTo("0027_room_of_jobs"));
  const projectId = createId("prj", nowMs);
  const keys = ["k", "a\\b", "é", "gone"];
  for (const [index, dedupeKey] of keys.entries()) {
    // The last of these events is older than the retention, so only its dedupe key is left.
    const kind = dedupeKey === "gone" ? "swept" : "event";
    await store.db.sql`
      insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
      values (${uuidOfId(projectId)}, ${uuidOfId(createId("evt", nowMs + index))}, ${kind}, 'code_host', 'code_host.issue_opened', '', '{}', now(), now(), ${dedupeKey})`;
  }
  await migrateDatabase(store.url);
  const again = [...keys, "new"].map((dedupeKey) => newEvent(projectId, [], { dedupeKey }));
  const lease = { owner: createId("node", nowMs), untilMs: nowMs };
  const outcome = await recordEvents(store.db, again, undefined, lease);
  expect(outcome).toEqual({ stale: false, duplicates: new Set(again.slice(0, 4).map(({ id }) => id)) });
  await store.drop();
});

test("notices of schedules that wait or were sent are operational events after it, with the same body for ask endpoints", async () => {
  const store = await createTestDatabase({ isEmpty: true });
  await migrateDatabase(store.url, await upTo("0061_webhook_secrets"));
  const [projectId, endpoint] = [createId("prj", nowMs), uuidOfId(createId("sub", nowMs))];
  const project = uuidOfId(projectId);
  await store.db.sql`insert into projects (id, name, created_at) values (${project}, 'p', now())`;
  await store.db.sql`
    insert into subscriptions (id, project_id, kind, endpoint_url, toolkit_slug, trigger_slug, signing_secret, created_at, event_types)
    values (${endpoint}, ${project}, 'asks', 'https://example.com/', '', '', '', now(), '{standing_paused}')`;
  const rows = [
    ["notice", '{"type":"standing_paused","standingProgramId":"stp_1","count":2}'],
    ["ask", '{"jobId":"job_1"}'],
  ] as const;
  for (const [index, [kind, payload]] of rows.entries()) {
    const [event, delivery] = [createId("evt", nowMs + index), createId("dlv", nowMs + index)].map(uuidOfId);
    await store.db.sql`
      insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
      values (${project}, ${event ?? ""}, ${kind}, '', '', '', ${payload}, now(), now(), '')`;
    await store.db.sql`
      insert into deliveries (project_id, id, event_id, subscription_id, state)
      values (${project}, ${delivery ?? ""}, ${event ?? ""}, ${endpoint}, 'pending')`;
  }
  await migrateDatabase(store.url);
  expect(await store.db.sql`select kind, toolkit_slug, trigger_slug, payload from events order by id`).toEqual([
    {
      ...{ kind: "event", toolkit_slug: "svc", trigger_slug: "svc.schedule_paused" },
      payload: '{"standingProgramId":"stp_1","count":2}',
    },
    { kind: "ask", toolkit_slug: "", trigger_slug: "", payload: '{"jobId":"job_1"}' },
  ]);
  await store.drop();
});

test("subscriptions with an entity that an earlier version made are counted, once each, and later changes move their version", async () => {
  const older = await createTestDatabase({ isEmpty: true });
  try {
    await migrateDatabase(older.url, await upTo("0062_operational_events"));
    const [projectId, other] = [uuidOfId(createId("prj", nowMs)), uuidOfId(createId("prj", nowMs))];
    for (const id of [projectId, other])
      await older.db.sql`insert into projects (id, name, created_at) values (${id}, ${id}, now())`;
    const add = (project: string, entityId: string) => older.db.sql`
      insert into subscriptions (id, project_id, endpoint_url, toolkit_slug, trigger_slug, entity_id, signing_secret, created_at)
      values (gen_random_uuid(), ${project}, '', '', '', ${entityId}, '', now())`;
    for (const entityId of ["a", "a", "b", "c", ""]) await add(projectId, entityId);
    await add(other, "");
    await migrateDatabase(older.url);
    const shards = () => older.db.sql<{ version: number; subscriptions: number }[]>`
      select version::int4, subscriptions from routing_shards where project_id = ${projectId} order by shard`;
    const before = await shards();
    expect(before.every(({ version }) => version === 1)).toBe(true);
    expect(before.reduce((sum, { subscriptions }) => sum + subscriptions, 0)).toBe(4);
    await add(projectId, "a");
    await older.db.sql`delete from subscriptions where entity_id = 'b'`;
    const after = await shards();
    expect(after.reduce((sum, { version }) => sum + version, 0)).toBe(before.length + 2);
    expect(after.reduce((sum, { subscriptions }) => sum + subscriptions, 0)).toBe(4);
    expect(await older.db.sql`select from routing_shards where project_id = ${other}`).toHaveLength(0);
  } finally {
    await older.drop();
  }
});

test("MCP servers that an earlier version imported are read again, and documents are not", async () => {
  const older = await createTestDatabase({ isEmpty: true });
  await migrateDatabase(older.url, await upTo("0069_toolkit_sources"));
  const project = uuidOfId(createId("prj", nowMs));
  await older.db.sql`alter table toolkit_sources drop constraint toolkit_sources_toolkit`;
  for (const kind of ["mcp", "openapi"])
    await older.db.sql`
      insert into toolkit_sources (project_id, slug, kind, origin, options, digest, version, changes_count, refreshed_at, last_error)
      values (${project}, ${kind}, ${kind}, '', '{}', '', 1, 0, '2026-01-01T00:00:00Z', '')`;
  await migrateDatabase(older.url);
  const rows = await older.db.sql`
    select slug, extract(epoch from next_at - refreshed_at)::int4 as seconds from toolkit_sources order by slug`;
  expect(rows).toEqual([
    { slug: "mcp", seconds: 21_600 },
    { slug: "openapi", seconds: null },
  ]);
  await older.drop();
});
