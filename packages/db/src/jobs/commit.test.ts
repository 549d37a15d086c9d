import { createId, type Id, type NodeId, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { newJobDocuments } from "@svc/testing/job-documents";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, withTransaction } from "../connect.ts";
import type { StepReceiptDocument } from "../documents/step-receipt.ts";
import { type ClaimedJobTask, claimJobTasks, putJobTasks, releaseJobTasks } from "../job-tasks/queue.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { commitRun, type RunChange } from "./commit.ts";
import type { RunLease } from "./commit-job.ts";
import { clearJobLoopHolds, countJobLoopHold, requestJobCancel, setJobPause } from "./hold.ts";
import { insertJobs } from "./insert.ts";
import { loadJob } from "./load.ts";
import { appendJobEvents } from "./log.ts";
import { jobsForProject } from "./repo.ts";
import { readJobSetRows } from "./sets.ts";

const wholePage = { bytesMax: 1_000_000, withData: true };
const noRows = { rows: [], hasMore: false };

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.db;
});

afterAll(() => database.drop());

const node = createId("node", nowMs);
const used = { ...newJobDocuments.used, toolCalls: 1 };

/** Adds a queued job. The node `node` holds a lease on the job's run task. */
async function heldJob(): Promise<{ jobId: Id<"job">; projectId: ProjectId; lease: RunLease }> {
  const projectId = await addProject(db);
  const jobId = await addJob(projectId);
  const lease = await claimOnly(projectId, node);
  return { jobId, projectId, lease };
}

async function addJob(projectId: ProjectId, dueAt = nowMs): Promise<Id<"job">> {
  const id = createId("job", nowMs);
  const digest = Buffer.alloc(32, 1);
  const job = {
    id,
    projectId,
    status: "queued" as const,
    mode: "live" as const,
    programDigest: digest,
    ...newJobDocuments,
    keyId: createId("key", nowMs),
    principalChain: ["key:k"],
    contentDigest: digest,
    createdAt: nowMs,
    updatedAt: nowMs,
  };
  const event = { type: "job-submitted", stepId: "", payload: "{}", principalChain: ["key:k"] };
  const task = { jobId: id, kind: "run" as const, subject: "", projectId, dueAt };
  const program = { projectId, digest, program: "{}", sealedProgram: null, programHash: "h", pins: "{}" };
  await insertJobs(db, program, [{ job, events: [event], tasks: [task] }], nowMs);
  return id;
}

async function claimOnly(projectId: ProjectId, owner: NodeId, atMs = nowMs): Promise<RunLease> {
  const { jobId, leaseToken } = await claimTask(projectId, owner, atMs);
  return { jobId, owner, leaseToken };
}

async function claimTask(projectId: ProjectId, owner: NodeId, atMs: number): Promise<ClaimedJobTask> {
  const request = {
    owner,
    nowMs: atMs,
    leaseUntilMs: atMs + 30_000,
    limit: 50,
    share: 50,
    fullProjects: new Set<ProjectId>(),
  };
  const task = (await claimJobTasks(db, request)).find((claimed) => claimed.projectId === projectId);
  if (task === undefined) throw new Error("no task of that project was due");
  return task;
}

function change(part: Partial<RunChange> = {}): RunChange {
  return {
    job: {
      status: "running",
      generation: 1,
      position: 3,
      progress: null,
      planApprovalId: "",
      park: null,
      used,
      saga: newJobDocuments.saga,
      deadlineAt: null,
      deadlineLeftMs: null,
      lastError: "",
      finishedAt: null,
    },
    events: [],
    steps: [],
    rows: [],
    setRows: [],
    setRuns: [],
    clearedSets: [],
    undoEntries: [],
    undoChanges: [],
    task: "keep",
    isProgress: true,
    tasks: [],
    calls: [],
    also: undefined,
    ...part,
  };
}

const event = (type: string) => ({ type, stepId: "s", payload: "{}", principalChain: ['key:"k"', "clock"] });
const stepReceipt: StepReceiptDocument = {
  stepId: "s",
  kind: "call",
  toolSlug: "a.b",
  toolVersion: "1",
  state: "completed",
  attempts: 1,
  startedAt: nowMs,
  errors: [],
};
const setRow = {
  setId: "s",
  ordinal: 0,
  rowNumber: 1,
  state: "ok" as const,
  doneCalls: 1,
  errorCode: "",
  outputs: null,
};
const options = { nowMs, seesCancel: false, seesPause: false };

async function taskOf(jobId: Id<"job">) {
  return db.sql<{ lease_owner: string | null }[]>`
    select due_at, lease_owner from job_tasks where job_id = ${uuidOfId(jobId)}::uuid`;
}

test("a commit writes job, log, steps, rows and entries together", async () => {
  const { jobId, projectId, lease } = await heldJob();
  const step = { stepId: "s", ordinal: 0, receipt: stepReceipt, output: Buffer.from("o") };
  const entry = { entry: 1, stepId: "s", ordinal: 0, toolSlug: "a.b", entityId: "e", args: Buffer.from("a") };
  const committed = await commitRun(
    db,
    lease,
    change({
      events: [event("one"), event("two")],
      steps: [step],
      rows: [{ rowNumber: 1, data: Buffer.from("row") }],
      setRows: [setRow],
      undoEntries: [entry],
      task: "end",
    }),
    options,
  );
  const nobodyAsked = { cancelRequestedAt: null, cancelChain: null, pausedAt: null, pauseChain: null };
  expect(committed).toEqual({ lastSeq: 3, hasBegunCall: false, ...nobodyAsked });
  expect(await loadJob(db, jobId)).toMatchObject({
    status: "running",
    position: 3,
    lastSeq: 3,
    used,
  });
  const events = await jobsForProject(db, projectId).listEvents(jobId, { afterSeq: 0, limit: 10 });
  expect(events.map(({ seq, type }) => [seq, type])).toEqual([
    [1, "job-submitted"],
    [2, "one"],
    [3, "two"],
  ]);
  expect(events[2]?.principalChain).toEqual(['key:"k"', "clock"]);
  const rows = await readJobSetRows(db, { jobId, setId: "s" }, { fromOrdinal: 0, limit: 10, ...wholePage });
  expect(rows).toMatchObject({ rows: [{ ordinal: 0, state: "ok", data: Buffer.from("row") }], hasMore: false });
  expect(await taskOf(jobId)).toEqual([]);
});

test("a lost lease writes nothing, not even in another table", async () => {
  const { jobId, projectId, lease } = await heldJob();
  await claimOnly(projectId, createId("node", nowMs), nowMs + 30_001);
  const late = change({
    events: [event("late")],
    setRows: [setRow],
    rows: [{ rowNumber: 1, data: Buffer.from("r") }],
    task: "end",
  });
  expect(await commitRun(db, lease, late, options)).toBeUndefined();
  expect(await loadJob(db, jobId)).toMatchObject({ status: "queued", lastSeq: 1 });
  expect(await readJobSetRows(db, { jobId, setId: "s" }, { fromOrdinal: 0, limit: 10, ...wholePage })).toEqual(noRows);
  expect(await taskOf(jobId)).toHaveLength(1);
});

test("a page's rows are committed by one statement without a transaction of its own, and not if the lease is lost", async () => {
  const { jobId, projectId, lease } = await heldJob();
  const { sql } = db;
  // A database without the query builder. The query builder opens transactions, so code that opens one fails here.
  const withoutTransactions = { sql, orm: undefined as never };
  const [first, second] = [
    { rowNumber: 1, data: Buffer.from("1 to 2") },
    { rowNumber: 3, data: Buffer.from("3") },
  ];
  const page = change({
    events: [event("page")],
    rows: [first, second],
    setRuns: [{ setId: "s", fromOrdinal: 0, rowNumbers: [1, 2, 3] }],
  });
  expect(await commitRun(withoutTransactions, lease, page, options)).toMatchObject({ lastSeq: 2 });
  const chosen = change({ setRuns: [{ setId: "s", fromOrdinal: 3, rowNumbers: [2] }] });
  expect(await commitRun(withoutTransactions, lease, chosen, options)).toMatchObject({ lastSeq: 2 });
  await claimOnly(projectId, createId("node", nowMs), nowMs + 30_001);
  const late = change({ ...page, rows: [], setRuns: [{ setId: "s", fromOrdinal: 4, rowNumbers: [1] }] });
  expect(await commitRun(withoutTransactions, lease, late, options)).toBeUndefined();
  const { rows } = await readJobSetRows(db, { jobId, setId: "s" }, { fromOrdinal: 0, limit: 10, ...wholePage });
  expect(rows.map(({ ordinal, rowNumber, block, state }) => [ordinal, rowNumber, block, state])).toEqual([
    [0, 1, 1, "in"],
    [1, 2, 1, "in"],
    [2, 3, 3, "in"],
    [3, 2, 1, "in"],
  ]);
  expect(await loadJob(db, jobId)).toMatchObject({ lastSeq: 2 });
});

test("seq has no gap however many write at once", async () => {
  const { jobId, projectId, lease } = await heldJob();
  await Promise.all([
    ...Array.from({ length: 10 }, () => commitRun(db, lease, change({ events: [event("a"), event("b")] }), options)),
    ...Array.from({ length: 10 }, () => appendJobEvents(db, jobId, [event("c")], nowMs)),
  ]);
  const events = await jobsForProject(db, projectId).listEvents(jobId, { afterSeq: 0, limit: 100 });
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 31 }, (_, index) => index + 1));
});

test("a commit that expects a seq writes nothing if another writer has logged", async () => {
  const { jobId, lease } = await heldJob();
  await appendJobEvents(db, jobId, [event("other")], nowMs);
  expect(await commitRun(db, lease, change(), { ...options, expectedSeq: 1 })).toBeUndefined();
  expect(await commitRun(db, lease, change(), { ...options, expectedSeq: 2 })).toMatchObject({ lastSeq: 2 });
});

test.each(["end", { dueAtMs: nowMs + 3_600_000 }] as const)(
  "a request to cancel that the driver has not seen keeps its task due",
  async (task) => {
    const { jobId, projectId, lease } = await heldJob();
    await requestJobCancel(db, { jobId, projectId, chain: ["key:c"], nowMs });
    const committed = await commitRun(db, lease, change({ task }), options);
    expect(committed).toMatchObject({ cancelRequestedAt: nowMs, cancelChain: ["key:c"] });
    expect(await taskOf(jobId)).toMatchObject([{ lease_owner: null }]);
    const again = await claimOnly(projectId, node);
    await commitRun(db, again, change({ task: "end" }), { ...options, seesCancel: true });
    expect(await taskOf(jobId)).toEqual([]);
  },
);

test("an unseen request to pause makes a waiting task due; the job's end removes the request", async () => {
  const { jobId, projectId, lease } = await heldJob();
  await setJobPause(db, jobId, { atMs: nowMs, chain: ["key:p"] });
  const committed = await commitRun(db, lease, change({ task: { dueAtMs: nowMs + 3_600_000 } }), options);
  expect(committed).toMatchObject({ pausedAt: nowMs, pauseChain: ["key:p"] });
  const again = await claimOnly(projectId, node);
  const finishedAt = nowMs;
  const ended = change({ task: "end" });
  await commitRun(db, again, { ...ended, job: { ...ended.job, finishedAt } }, { ...options, seesPause: true });
  expect((await loadJob(db, jobId))?.pausedAt).toBeNull();
  expect(await taskOf(jobId)).toEqual([]);
});

test("of two claims at once each task goes to one, every project gets its share, and full ones nothing", async () => {
  await db.sql.unsafe("delete from job_tasks");
  const [many, few, full] = await Promise.all([addProject(db), addProject(db), addProject(db)]);
  for (let index = 0; index < 6; index++) await addJob(many, nowMs - 1_000 + index);
  for (let index = 0; index < 2; index++) await addJob(few, nowMs - 100);
  await addJob(full, nowMs - 5_000);
  await addJob(few, nowMs + 1);
  const request = {
    owner: node,
    nowMs,
    leaseUntilMs: nowMs + 30_000,
    limit: 4,
    share: 2,
    fullProjects: new Set([full]),
  };
  const both = (await Promise.all([claimJobTasks(db, request), claimJobTasks(db, request)])).flat();
  expect(new Set(both.map(({ jobId }) => jobId)).size).toBe(both.length);
  expect(both.filter(({ projectId }) => projectId === few)).toHaveLength(2);
  expect(both.filter(({ projectId }) => projectId === full)).toHaveLength(0);
});

test("a job whose status or document a newer version wrote is not read", async () => {
  const jobId = await addJob(await addProject(db));
  const id = uuidOfId(jobId);
  await db.sql`update jobs set status = 'dreaming' where id = ${id}`;
  await expect(loadJob(db, jobId)).rejects.toThrow('"dreaming" is not one of simulating,');
  await db.sql`update jobs set status = 'queued', saga = '{"v": 4, "state": "none"}' where id = ${id}`;
  await expect(loadJob(db, jobId)).rejects.toThrow("jobs.saga is stored in version 4");
  await db.sql`delete from job_tasks where job_id = ${id}`;
});

test("a task that is made due again keeps its lease and takes the earlier time", async () => {
  const { jobId, projectId, lease } = await heldJob();
  await putJobTasks(db, [{ jobId, projectId, kind: "run", subject: "", dueAt: nowMs - 5_000 }]);
  expect(await commitRun(db, lease, change(), options)).toBeDefined();
});

test("leases that run out are counted, those that are given back are not, and a commit by which the job gets on clears them", async () => {
  const { jobId, projectId, lease } = await heldJob();
  const untilLost = 30_001;
  const claims: ClaimedJobTask[] = [];
  const claim = async () => {
    const atMs = nowMs + (claims.length + 1) * untilLost;
    const task = await claimTask(projectId, node, atMs);
    claims.push(task);
    return { jobId, owner: node, leaseToken: task.leaseToken };
  };
  const first = await claim();
  await releaseJobTasks(db, [{ jobId, kind: "run", subject: "", leaseToken: first.leaseToken }], nowMs);
  await claim();
  const third = await claim();
  await commitRun(db, third, change({ isProgress: false }), options);
  const fourth = await claim();
  expect(claims.map(({ losses }) => losses)).toEqual([1, 1, 2, 3]);
  await commitRun(db, fourth, change(), options);
  const fifth = await claim();
  await commitRun(db, fifth, change({ task: { dueAtMs: nowMs }, isProgress: false }), options);
  const sixth = await claim();
  await commitRun(db, sixth, change({ task: { dueAtMs: nowMs } }), options);
  await claim();
  expect(claims.slice(4).map(({ losses }) => losses)).toEqual([1, 1, 0]);
  expect(await commitRun(db, lease, change(), options)).toBeUndefined();
});

test("holds of an event loop are counted until they are cleared, and of a job that has ended no more", async () => {
  const jobId = await addJob(await addProject(db));
  expect([await countJobLoopHold(db, jobId), await countJobLoopHold(db, jobId)]).toEqual([1, 2]);
  await clearJobLoopHolds(db, jobId);
  expect(await countJobLoopHold(db, jobId)).toBe(1);
  await db.sql`update jobs set finished_at = now() where id = ${uuidOfId(jobId)}`;
  expect(await countJobLoopHold(db, jobId)).toBeUndefined();
  await db.sql`delete from job_tasks where job_id = ${uuidOfId(jobId)}`;
});

test("a commit rewrites index entries for the status and the end alone: nothing else that changes is in an index of jobs", async () => {
  const rows = await db.sql<{ name: string }[]>`
    select distinct a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum > 0
    where i.indrelid = 'jobs'::regclass
      and (a.attnum = any(i.indkey) or pg_get_expr(i.indpred, i.indrelid) ~ ('\\m' || a.attname || '\\M')) order by 1`;
  const fixed = [
    "id",
    "child_key",
    "idempotency_key",
    "parent_job_id",
    "mode",
    "project_id",
    "simulated_from",
    "skill_slug",
    "standing_program_id",
  ];
  expect(rows.map(({ name }) => name).filter((name) => !fixed.includes(name))).toEqual([
    "finished_at",
    "is_swept",
    "status",
  ]);
});

test("tasks that a stopped process has locked keep no others of their project from a node, which takes no more than a share", async () => {
  await db.sql.unsafe("delete from job_tasks");
  const projectId = await addProject(db);
  for (let index = 0; index < 6; index++) await addJob(projectId, nowMs - 1_000 + index);
  const request = {
    owner: node,
    nowMs,
    leaseUntilMs: nowMs + 30_000,
    limit: 10,
    share: 2,
    fullProjects: new Set<ProjectId>(),
  };
  await withTransaction(db, async (tx) => {
    await tx.sql.unsafe("select 1 from job_tasks order by due_at limit 3 for update");
    expect(await claimJobTasks(db, request)).toEqual([]);
    const spared = await claimJobTasks(db, { ...request, spare: 8 });
    expect(spared.map(({ place }) => place).sort()).toEqual([4, 5]);
  });
  expect(await claimJobTasks(db, { ...request, spare: 8 })).toHaveLength(2);
});
