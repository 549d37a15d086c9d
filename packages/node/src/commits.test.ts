import { createId, type ProjectId, systemClock } from "@svc/core";
import { createProject, openDatabase } from "@svc/db";
import { JobsService } from "@svc/gen/jobs";
import { catalogOf } from "@svc/testing/catalog";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { connectDesk, createWorld, desk } from "@svc/testing/desk";
import { createTestNode, testSealer } from "@svc/testing/node";
import { afterAll, beforeAll, expect, test } from "vitest";

let database: TestDatabase;
let projectId: ProjectId;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = (await createProject(database.db, "counted", systemClock.now())).id;
  await connectDesk(database.db, testSealer, projectId, systemClock.now());
});
afterAll(() => database.drop());

const jobs = 200;
const atOnce = 64;
const programJson = JSON.stringify({
  version: 1,
  title: "One write",
  steps: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" } }],
});

/** What the database has committed since its beginning; of connections that are closed, to the last one. */
async function commits(): Promise<number> {
  const [row] = await database.db.sql.unsafe<{ count: string }[]>(
    "select xact_commit as count from pg_stat_database where datname = current_database()",
  );
  return Number(row?.count);
}

/** Runs jobs of one step through a node, so many at once, and answers what the database committed for each. */
async function commitsOfJobs(): Promise<number> {
  const before = await commits();
  const db = openDatabase({ url: database.url, connectionsMax: 20 });
  const waiting: (() => void)[] = [];
  const node = createTestNode(db, {
    clock: systemClock,
    catalog: catalogOf({ toolkits: [desk] }),
    transport: createWorld().transport,
    isSandbox: true,
    engines: ["jobs"],
    observer: { jobs: { ended: () => waiting.shift()?.(), parked: () => {}, leaseLost: () => {}, failed: () => {} } },
  });
  const client = node.client(JobsService, { projectId, keyId: createId("key", 1), role: "approver" });
  let left = jobs;
  const work = async () => {
    while (left-- > 0) {
      const ended = new Promise<void>((resolve) => waiting.push(resolve));
      await client.submitJob({ programJson });
      await ended;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  expect(node.told.calls).toHaveLength(jobs);
  await node[Symbol.asyncDispose]();
  await db.close();
  return ((await commits()) - before) / jobs;
}

test("a job of one write costs few commits under load: what is decided together is committed together", async () => {
  const perJob = await commitsOfJobs();
  process.stdout.write(`commits a job: ${perJob.toFixed(2)}\n`);
  expect(perJob).toBeLessThan(0.4);
});
