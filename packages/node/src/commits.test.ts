import { createId, type ProjectId, systemClock } from "@svc/core";
import { type Database, openDatabase } from "@svc/db/connect";
import { createProject } from "@svc/db/projects/repo";
import { JobStatus, JobsService } from "@svc/gen/jobs";
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

/** Average cost of a job for the database. */
type Cost = { readonly commits: number; readonly statements: number; readonly walBytes: number };

/** Returns the number of commits of the database since its creation. Closed connections are counted completely. */
async function commits(): Promise<number> {
  const [row] = await database.db.sql.unsafe<{ count: string }[]>(
    "select xact_commit as count from pg_stat_database where datname = current_database()",
  );
  return Number(row?.count);
}

/** Returns the WAL bytes that a pool's connections wrote. Full page images are left out, because they depend on checkpoints. */
async function walBytes(applicationName: string): Promise<number> {
  const [row] = await database.db.sql.unsafe<{ bytes: string }[]>(
    `select coalesce(sum(w.wal_bytes - 8192 * w.wal_fpi), 0) as bytes
     from pg_stat_activity a cross join lateral pg_stat_get_backend_wal(a.pid) w where a.application_name = $1`,
    [applicationName],
  );
  return Number(row?.bytes);
}

/** Returns a list of the names of the statements that are sent through a pool, in their order. The list grows while the pool is used. */
function noteStatements(db: Database): string[] {
  const names: string[] = [];
  const send = db.sql.unsafe.bind(db.sql);
  Object.assign(db.sql, {
    unsafe: (...statement: Parameters<typeof send>) => {
      names.push(/^\/\* (\w+) \*\//.exec(statement[0])?.[1] ?? statement[0]);
      return send(...statement);
    },
  });
  return names;
}

/** Runs jobs of a single step through a node, many at the same time, and returns their average cost. */
async function costOfJobs(): Promise<Cost> {
  const connectionsMax = 20;
  const db = openDatabase({ url: database.url, connectionsMax, applicationName: "counted" });
  // A connection reports its statistics at the end of a transaction in which it is asked to.
  const tell = () => db.sql.begin((sql) => sql.unsafe("select pg_stat_force_next_flush(), pg_sleep(0.05)"));
  const tellAll = () => Promise.all(Array.from({ length: connectionsMax }, tell));
  await tellAll();
  const before = { commits: await commits(), walBytes: await walBytes("counted") };
  const statements = noteStatements(db);
  const waiting: (() => void)[] = [];
  const node = createTestNode(db, {
    clock: systemClock,
    catalog: catalogOf({ toolkits: [desk] }),
    transport: createWorld().transport,
    sandboxMode: "force",
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
  const sent = statements.length;
  await tellAll();
  const after = { commits: (await commits()) - connectionsMax, walBytes: await walBytes("counted") };
  await db.close();
  return {
    commits: (after.commits - before.commits) / jobs,
    statements: sent / jobs,
    walBytes: (after.walBytes - before.walBytes) / jobs,
  };
}

const commitsMax = 0.2;
const statementsMax = 0.3;
const walBytesMax = 4_096;
const isShared = ({ commits: committed, statements, walBytes: bytes }: Cost) =>
  committed < commitsMax && statements < statementsMax && bytes < walBytesMax;

test("a job of one write costs two shares of a commit under load: its beginning, and its end", async () => {
  // On a busy machine, jobs that would share a commit do not end at the same time. So the lowest cost of five rounds is taken.
  const rounds = [await costOfJobs()];
  while (rounds.length < 5 && !rounds.some(isShared)) rounds.push(await costOfJobs());
  const { commits: committed, statements, walBytes: bytes } = rounds.find(isShared) ?? rounds[0]!;
  process.stdout.write(
    `a job: ${committed.toFixed(2)} commits, ${statements.toFixed(2)} statements, ${bytes.toFixed(0)} bytes of WAL\n`,
  );
  expect(committed).toBeLessThan(commitsMax);
  expect(statements).toBeLessThan(statementsMax);
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThan(walBytesMax);
});

test.each([
  ["send_note", "commit_job_runs_lone_write_end", "insert_jobs_lone_begun"],
  ["get_item", "commit_job_runs_lone_read_end", "insert_jobs_lone_read"],
] as const)(
  "one job of %s looks up its account and its policy once before it is stored, and its wait asks the store nothing",
  async (tool, end, insert) => {
    const db = openDatabase({ url: database.url });
    const names = noteStatements(db);
    const node = createTestNode(db, {
      catalog: catalogOf({ toolkits: [desk] }),
      transport: createWorld().transport,
      sandboxMode: "force",
      engines: ["jobs"],
    });
    const client = node.client(JobsService, { projectId, keyId: createId("key", 1), role: "approver" });
    const args = tool === "get_item" ? { id: "i1" } : { text: "x" };
    const steps = [{ id: "one", call: `desk.${tool}`, entity: "ops", args }];
    const submission = { programJson: JSON.stringify({ version: 1, title: "One", steps }), waitSeconds: 30 };
    // The first job fills the caches. They stay valid, because the clock does not move.
    await client.submitJob(submission);
    names.length = 0;
    const { job } = await client.submitJob(submission);
    expect(job?.status).toBe(JobStatus.SUCCEEDED);
    expect(names.toSorted()).toEqual([end, "find_active_accounts", insert, "read_plan_policies"]);
    await node[Symbol.asyncDispose]();
    await db.close();
  },
);
