import { createId, type Id, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Executor, withTransaction } from "../connect.ts";
import { arrayLiteral } from "../sql/statement.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { renewJobLeases } from "./lease.ts";
import { claimJobTasks, holdJobTask, putJobTasks, releaseJobTasks } from "./queue.ts";
import type { JobTaskLease, NewJobTask } from "./task.ts";

// When a child job ends, one transaction locks the task of the child and makes the task of the parent due. A statement that writes all
// leases of a node needs both tasks too. The parent is older, so its task is the first of the two in the order of keys.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const owner = createId("node", nowMs);

function runOf(jobId: Id<"job">, projectId: ProjectId): NewJobTask {
  return { jobId, kind: "run", subject: "", projectId, dueAt: nowMs };
}

/** Creates run tasks for a job and its child job, both leased by one node. */
async function family() {
  const { db } = database;
  const projectId = await addProject(db);
  const [parent, child] = [createId("job", nowMs), createId("job", nowMs + 1)];
  await putJobTasks(db, [runOf(parent, projectId), runOf(child, projectId)]);
  const request = { owner, nowMs, leaseUntilMs: nowMs + 30_000, limit: 10, share: 10, fullProjects: new Set<never>() };
  const tasks = await claimJobTasks(db, request);
  const leaseOf = (jobId: Id<"job">) => tasks.find((task) => task.jobId === jobId) as JobTaskLease;
  const [ofParent, ofChild] = [leaseOf(parent), leaseOf(child)];
  return {
    leases: [ofParent, ofChild],
    ofChild,
    wakeParent: (tx: Executor) => putJobTasks(tx, [runOf(parent, projectId)]),
  };
}

/** Runs `write` while the transaction that ends the child job is open. `write` either finishes, or waits for this transaction. */
async function whileChildEnds<T>({ ofChild, wakeParent }: Awaited<ReturnType<typeof family>>, write: () => Promise<T>) {
  const { db } = database;
  let written: Promise<T> | undefined;
  await withTransaction(db, async (tx) => {
    expect(await holdJobTask(tx, ofChild)).toBe(true);
    let isDone = false;
    written = write().finally(() => {
      isDone = true;
    });
    // The test awaits `written` later and handles its rejection there.
    written.catch(() => {});
    await until(async () => isDone || (await isAnyWaiting()));
    await wakeParent(tx);
  });
  return written;
}

/** True if a database session of the test waits for another session. */
async function isAnyWaiting(): Promise<boolean> {
  const found = await database.db.sql`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return found.length > 0;
}

/** Returns the time at which each lease ends; null for a lease that was released. */
async function untilOf({ leases }: { readonly leases: readonly JobTaskLease[] }): Promise<(number | null)[]> {
  const ids = arrayLiteral(leases.map(({ jobId }) => uuidOfId(jobId)));
  const rows = await database.db.sql<{ until: string | null }[]>`
    select lease_until::text as until from job_tasks where job_id = any(${ids}::uuid[]) order by job_id`;
  return rows.map(({ until: text }) => (text === null ? null : Date.parse(text)));
}

test("a renewal waits for no job that ends meanwhile, and reports the tasks it has locked for another try", async () => {
  const held = await family();
  const laterMs = nowMs + 60_000;
  const renewed = await whileChildEnds(held, () => renewJobLeases(database.db, held.leases, laterMs));
  expect(renewed?.map(({ isRenewed }) => isRenewed)).toEqual([true, false]);
  expect(await untilOf(held)).toEqual([laterMs, nowMs + 30_000]);
  const again = await renewJobLeases(database.db, held.leases, laterMs);
  expect(again.map(({ isRenewed }) => isRenewed)).toEqual([true, true]);
});

test("leases are released while a job ends, the one it has locked after the others", async () => {
  const held = await family();
  await whileChildEnds(held, () => releaseJobTasks(database.db, held.leases, nowMs));
  expect(await untilOf(held)).toEqual([null, null]);
});

test("a lost lease is neither renewed nor reported", async () => {
  const { leases } = await family();
  const [parent, child] = leases as [JobTaskLease, JobTaskLease];
  const found = await renewJobLeases(database.db, [parent, { ...child, leaseToken: 7 }], nowMs + 60_000);
  expect(found).toEqual([
    {
      jobId: parent.jobId,
      kind: "run",
      subject: "",
      leaseToken: 1,
      isRenewed: true,
      isCancelled: false,
      isPaused: false,
    },
  ]);
});
