import { type Id, type Sweep, uuidOfId } from "@svc/core";
import { openDatabase } from "@svc/db/connect";
import { loadJob } from "@svc/db/jobs/load";
import { findSimulationRun } from "@svc/db/jobs/simulation-run";
import { createWorld } from "@svc/testing/desk";
import type { TestBench } from "@svc/testing/job-bench";
import { createBenches, fetchItems, sendAll } from "@svc/testing/job-benches";
import { until } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import { jobRowSweep, jobSweep } from "./retention.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const day = 86_400_000;

/** Runs one whole round of a sweep. Returns how many of its batches were full. */
async function sweepAll(sweep: Sweep, nowMs: number): Promise<number> {
  let full = 0;
  for await (const isFull of sweep.round(nowMs)) if (isFull) full++;
  return full;
}

/** Returns the number of rows that a job has in each table. Tables without such rows are left out. */
async function rowsOf({ db }: Pick<TestBench, "db">, id: Id<"job">): Promise<Readonly<Record<string, number>>> {
  const tables = ["job_steps", "job_events", "job_rows", "job_set_rows", "job_undo_entries", "job_asks", "job_tasks"];
  const counts = [`select 'jobs' as name, count(*)::int4 as count from jobs where id = $1::text::uuid`];
  for (const table of tables) {
    counts.push(`select '${table}', count(*)::int4 from ${table} where job_id = $1::text::uuid`);
  }
  const rows = await db.sql.unsafe<{ name: string; count: number }[]>(counts.join(" union all "), [uuidOfId(id)]);
  return Object.fromEntries(rows.filter(({ count }) => count > 0).map(({ name, count }) => [name, count]));
}

/** A program that asks a person and whose calls can be undone. Its job leaves rows in every table. */
const askedWithUndo = {
  saga: { on: ["failed", "aborted", "cancelled"] },
  steps: [
    fetchItems(),
    {
      id: "one",
      ...{ call: "desk.send_note", entity: "ops", args: { text: "x" } },
      undo: { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } },
    },
    { id: "gate", judge: "ok" },
  ],
  points: {
    ok: {
      question: "Go?",
      continuations: ["proceed", "abort"],
      escalation: [{ principal: "owner" }],
      answerSchema: { type: "object", additionalProperties: false, properties: {} },
    },
  },
};

test("rows go some days after the end, and the receipt stays", async () => {
  const bench = await benches.bench(createWorld({ items: 30, pageSize: 10 }));
  bench.engine();
  const old = await bench.submit(sendAll());
  await bench.reach(old, "succeeded");
  bench.clock.advance(6 * 86_400_000);
  const young = await bench.submit(sendAll());
  await bench.reach(young, "succeeded");
  bench.clock.advance(2 * 86_400_000);
  const { db, clock } = bench;
  const sweep = jobRowSweep({ db, rowRetentionMs: 7 * 86_400_000, batchMax: 7 });
  expect(await sweepAll(sweep, clock.now())).toBeGreaterThan(1);
  const count = async (table: string) =>
    (await db.sql.unsafe<{ n: number }[]>(`select count(*)::int4 as n from ${table}`))[0]?.n;
  // Each fetched page is stored as one block.
  expect(await count("job_rows")).toBe(3);
  expect(await count("job_set_rows")).toBe(60);
  expect((await bench.read(old)).job).toMatchObject({ isSwept: true, status: "succeeded" });
  expect((await bench.read(young)).job.isSwept).toBe(false);
});

test("a job goes whole some time after its end, its twin with it; what runs, waits or is not over stays", async () => {
  const bench = await benches.bench(createWorld({ items: 3 }));
  const { db, clock } = bench;
  bench.engine();
  const asked = await bench.submit(askedWithUndo);
  await bench.reach(asked, "parked");
  await bench.answer(asked, { continuation: "proceed" });
  await bench.reach(asked, "succeeded");
  expect(await rowsOf(bench, asked)).toMatchObject({
    ...{ jobs: 1, job_steps: 3, job_rows: 1, job_set_rows: 3, job_undo_entries: 1, job_asks: 1 },
  });
  const parked = await bench.submit(askedWithUndo);
  await bench.reach(parked, "parked");
  const simulated = await bench.submit(sendAll(), { simulateFirst: true });
  await bench.reach(simulated, "succeeded");
  const twin = await findSimulationRun(db, simulated);
  expect(twin).toBeDefined();
  await bench.stop();
  const running = await bench.submit(sendAll());
  await bench.doom("in-send");
  const queued = await bench.submit(sendAll());
  const stays = [parked, queued, running];
  const before = await Promise.all(stays.map((id) => rowsOf(bench, id)));

  const rows = jobRowSweep({ db, rowRetentionMs: 7 * day });
  const sweep = jobSweep({ db, jobRetentionMs: 90 * day });
  clock.advance(89 * day);
  await sweepAll(rows, clock.now());
  await sweepAll(sweep, clock.now());
  expect(await rowsOf(bench, asked)).toMatchObject({ jobs: 1, job_steps: 3, job_asks: 1 });
  clock.advance(2 * day);
  await sweepAll(sweep, clock.now());
  for (const id of [asked, simulated, twin!]) expect(await rowsOf(bench, id)).toEqual({});
  expect(await Promise.all(stays.map((id) => rowsOf(bench, id)))).toEqual(before);
  expect((await loadJob(db, running))?.status).toBe("running");
  clock.advance(1_000 * day);
  await sweepAll(rows, clock.now());
  await sweepAll(sweep, clock.now());
  expect(await Promise.all(stays.map((id) => rowsOf(bench, id)))).toEqual(before);
});

/**
 * Returns the ids of jobs that have ended and whose rows were deleted. They are the only jobs in the database, in the order of their ids.
 */
async function sweptJobs(bench: TestBench, count: number): Promise<Id<"job">[]> {
  await bench.db.sql`truncate jobs, job_steps, job_events, job_asks, job_tasks`;
  bench.engine();
  const ids: Id<"job">[] = [];
  for (let made = 0; made < count; made++) {
    const id = await bench.submit(sendAll());
    await bench.reach(id, "succeeded");
    ids.push(id);
  }
  await bench.stop();
  bench.clock.advance(100 * day);
  await sweepAll(jobRowSweep({ db: bench.db, rowRetentionMs: 7 * day }), bench.clock.now());
  return ids.sort();
}

test("a sweep that is broken off between two batches leaves every job whole or gone; the next round takes the rest", async () => {
  const bench = await benches.bench(createWorld({ items: 1 }));
  const ids = await sweptJobs(bench, 5);
  const whole = await Promise.all(ids.map((id) => rowsOf(bench, id)));
  expect(whole[0]).toMatchObject({ jobs: 1, job_steps: 2 });
  const sweep = jobSweep({ db: bench.db, jobRetentionMs: 90 * day, batchMax: 2 });
  for await (const isFull of sweep.round(bench.clock.now())) {
    expect(isFull).toBe(true);
    break;
  }
  const left = await Promise.all(ids.map((id) => rowsOf(bench, id)));
  expect(left).toEqual([{}, {}, ...whole.slice(2)]);
  expect(await sweepAll(sweep, bench.clock.now())).toBe(1);
  for (const id of ids) expect(await rowsOf(bench, id)).toEqual({});
});

test("a sweep whose session is killed in the middle of a batch has removed nothing of it", async () => {
  const bench = await benches.bench(createWorld({ items: 1 }));
  const { db, clock } = bench;
  const ids = await sweptJobs(bench, 3);
  const whole = await Promise.all(ids.map((id) => rowsOf(bench, id)));
  const [place] = await db.sql<{ name: string }[]>`select current_database() as name`;
  const url = new URL(process.env["SVC_TEST_DATABASE_URL"]!);
  url.pathname = `/${place!.name}`;
  const victim = openDatabase({ url: url.href, connectionsMax: 1, applicationName: "victim" });
  const victims = () => db.sql<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = 'victim' and datname = current_database() and wait_event_type = 'Lock'`;
  await db.sql.begin(async (tx) => {
    // The batch waits here for the lock, after it has deleted the steps in its own transaction.
    await tx`select 1 from job_events where job_id = ${uuidOfId(ids[2]!)}::uuid for update`;
    const swept = sweepAll(jobSweep({ db: victim, jobRetentionMs: 90 * day }), clock.now()).catch(() => "killed");
    await until(async () => (await victims()).length === 1);
    const [waiting] = await victims();
    await db.sql`select pg_terminate_backend(${waiting!.pid}, 5000)`;
    expect(await swept).toBe("killed");
  });
  await victim.close();
  expect(await Promise.all(ids.map((id) => rowsOf(bench, id)))).toEqual(whole);
  await sweepAll(jobSweep({ db, jobRetentionMs: 90 * day }), clock.now());
  for (const id of ids) expect(await rowsOf(bench, id)).toEqual({});
});

test("a job with a very long log goes in a batch of its own", async () => {
  const bench = await benches.bench(createWorld({ items: 1 }));
  const ids = await sweptJobs(bench, 3);
  await bench.db.sql`update jobs set last_seq = 9999 where id = ${uuidOfId(ids[1]!)}::uuid`;
  const sweep = jobSweep({ db: bench.db, jobRetentionMs: 90 * day });
  const left: number[] = [];
  for await (const _ of sweep.round(bench.clock.now())) {
    const rows = await Promise.all(ids.map((id) => rowsOf(bench, id)));
    left.push(rows.filter(({ jobs }) => jobs === 1).length);
  }
  expect(left).toEqual([2, 1, 0]);
});
