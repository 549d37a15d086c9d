import { setTimeout as wait } from "node:timers/promises";
import { createId, isoTime, type ProjectId, systemClock, uuidOfId } from "@svc/core";
import { type Database, openDatabase } from "@svc/db/connect";
import { createApiKey } from "@svc/db/keys/repo";
import { migrateDatabase } from "@svc/db/migrate";
import { createProject } from "@svc/db/projects/repo";
import { StandingService } from "@svc/gen/standing";
import { catalogOf } from "@svc/testing/catalog";
import { createTestNode, type TestNode } from "@svc/testing/node";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { until } from "@svc/testing/until";
import { afterEach, expect, test } from "vitest";
import { startCrashingPostgres } from "./jobs-outage.ts";

// PostgreSQL crashes while nodes start standing programs at their scheduled times and on events.

const isWhole = Number(process.env["SVC_CRASH_ROUNDS"] ?? 0) > 0;
/**
 * Number of crashes, and the time between them. Every program is due a hundred times in total, between the crashes and after the last one.
 */
const { crashes, everyMs, programs } = isWhole
  ? { crashes: 24, everyMs: 5_000, programs: 10 }
  : { crashes: 1, everyMs: 1_000, programs: 3 };
const times = 100;
const apartMs = ((crashes + 1) * everyMs) / times;
const leadMs = 2_000;
const token = "the-watchers-token";
const cleanups: (() => Promise<unknown>)[] = [];

/** A fault of the store that happens as soon as a node is about to commit a decision. */
let befalls: (() => Promise<void>) | undefined;

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Starts a node that starts standing programs, with database sessions of its own. */
function startNode(url: string): { readonly node: TestNode; readonly db: Database } {
  const db = openDatabase({ url, applicationName: "svc-crash-standing" });
  const node = createTestNode(db, {
    clock: systemClock,
    catalog: catalogOf({ toolkits: [sampleToolkits.watcher] }),
    variable: (name) => (name === "SVC_WEBHOOK_SECRET_WATCHER" ? token : undefined),
    engines: ["standing"],
    limits: { standing: { pollMs: 20, leaseMs: 1_000, projectRunsMax: 100_000 } },
    async onStandingFaultPoint(point) {
      const act = befalls;
      if (act === undefined || point !== "before-decided") return;
      befalls = undefined;
      await act();
    },
  });
  cleanups.push(async () => {
    await node[Symbol.asyncDispose]();
    await db.close();
  });
  return { node, db };
}

const program = { version: 1, title: "Wait", steps: [{ id: "wait", wait: "1h" }] };

/** Creates a project with programs that are due a hundred times from now on, and one program that every change starts. */
async function stand(node: TestNode, db: Database): Promise<ProjectId> {
  const nowMs = systemClock.now();
  const { id: projectId } = await createProject(db, "standing", nowMs);
  const keyId = createId("key", nowMs);
  const key = { id: keyId, projectId, role: "approver", name: "", hint: "", createdAt: nowMs } as const;
  const open = { expiresAt: null, revokedAt: null, lastUsedAt: null };
  await createApiKey(db, { ...key, ...open, digest: Buffer.from(keyId) });
  const client = node.client(StandingService, { projectId, keyId, role: "approver" });
  const create = (slug: string, source: object, lane: string) => {
    const definition = { version: 1, source, overlap: { policy: "queueAll", key: { $ref: lane } }, program };
    return client.createStandingProgram({ slug, definitionJson: JSON.stringify(definition) });
  };
  await create("changes", { trigger: { slug: "watcher.changed" } }, "event.id");
  for (let index = 0; index < programs; index++) {
    // Times that have passed when a program is created are not due.
    const firstMs = systemClock.now() + leadMs;
    const at = Array.from({ length: times }, (_, place) => isoTime(Math.floor(firstMs + place * apartMs) + index));
    await create(`p${index}`, { schedule: { at } }, "fire.at");
  }
  return projectId;
}

/**
 * Posts changes one after the other until it is stopped, each repeated until the service accepts it, as providers do. Returns the number of
 * changes.
 */
async function post(node: TestNode, isStopped: () => boolean): Promise<number> {
  let number = 0;
  for (; !isStopped(); number++) {
    await until(async () => {
      const headers = { "x-watch-state": "exists", "x-watch-channel": "c", "x-watch-number": String(number) };
      const query = new URLSearchParams({ token });
      const posted = { toolkitSlug: "watcher", headers, query, body: Buffer.alloc(0) };
      const { outcome } = await node.ingest.accept(posted).catch(() => ({ outcome: "away" }));
      return outcome === "accepted";
    });
    await wait(apartMs);
  }
  return number;
}

type Found = { readonly runs: number; readonly sources: number; readonly jobs: number; readonly orphans: number };

async function found(db: Database, projectId: ProjectId): Promise<Found | undefined> {
  const id = uuidOfId(projectId);
  const [row] = await db.sql<Found[]>`
    select count(*)::int4 as runs, count(distinct (r.program_id, r.source_key))::int4 as sources,
      count(distinct j.id)::int4 as jobs,
      (select count(*) from jobs o where o.project_id = ${id}::uuid and not exists (
        select from standing_runs s where s.job_id = o.id))::int4 as orphans
    from standing_runs r left join jobs j on j.id = r.job_id where r.project_id = ${id}::uuid`;
  return row;
}

test("acceptance 5: PostgreSQL crashes under standing programs: each time and each event has one run, and each run a job", {
  timeout: 120_000 + crashes * 2 * everyMs,
}, async () => {
  const postgres = await startCrashingPostgres();
  cleanups.push(() => postgres.stop());
  await migrateDatabase(postgres.url);
  const [{ node, db }] = [startNode(postgres.url), startNode(postgres.url), startNode(postgres.url)];
  const projectId = await stand(node, db);
  let isOver = false;
  const posting = post(node, () => isOver);
  await wait(leadMs);
  for (let crash = 0; crash < crashes; crash++) {
    await wait(everyMs);
    await new Promise<void>((resolve, reject) => {
      befalls = () => postgres.crash().then(resolve, reject);
    });
  }
  await wait(everyMs);
  isOver = true;
  const all = programs * times + (await posting);
  const isDone = async () => ((await found(db, projectId))?.runs ?? 0) >= all;
  // If the runs do not all appear, the comparison below shows the difference.
  await until(() => isDone().catch(() => false), "all runs", 60_000).catch(() => {});
  // A node that would start a run twice has lost its lease by then.
  await wait(1_200);
  expect(await found(db, projectId)).toEqual({ runs: all, sources: all, jobs: all, orphans: 0 });
});
