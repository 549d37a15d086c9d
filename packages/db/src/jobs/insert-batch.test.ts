import { createId, type Id, type ProjectId } from "@svc/core";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { newJobDocuments } from "@svc/testing/job-documents";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../connect.ts";
import { claimJobTasks } from "../job-tasks/queue.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { insertJobs } from "./insert.ts";
import { loadJob, loadJobProgram, loadJobsWithSteps } from "./load.ts";
import type { NewJob } from "./new-job.ts";
import { recordOfNewJob } from "./new-record.ts";
import { jobsForProject } from "./repo.ts";

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.db;
});
afterAll(() => database.drop());

const digest = Buffer.alloc(32, 7);
const program = {
  program: null,
  sealedProgram: Buffer.from([0, 255, 92, 34]),
  programHash: "h",
  pins: '{"a":"\\"\\n"}',
};
const keyId = createId("key", nowMs);

async function insertNew(
  projectId: ProjectId,
  changes: Partial<NewJob> = {},
): Promise<{ id: Id<"job">; newJob: NewJob }> {
  const id = createId("job", nowMs);
  const job = {
    id,
    projectId,
    status: "queued" as const,
    mode: "live" as const,
    programDigest: digest,
    input: Buffer.from([0, 255, 92]),
    ...newJobDocuments,
    params: { text: 'a"b\\c\nd', list: [1, null] },
    keyId,
    principalChain: ["key:k", 'skill:"x", y'],
    contentDigest: Buffer.alloc(32, 8),
    deadlineAt: nowMs + 5_000,
    createdAt: nowMs,
    updatedAt: nowMs,
  };
  const event = (type: string) => ({ type, stepId: "", payload: "{}", principalChain: ["key:k"] });
  const task = { jobId: id, kind: "run" as const, subject: "", projectId, dueAt: nowMs };
  const newJob = { job, events: [event("job-submitted"), event("ask-raised")], tasks: [task] };
  await insertJobs(db, { ...program, projectId, digest }, [{ ...newJob, ...changes }], nowMs);
  return { id, newJob };
}

const insert = async (projectId: ProjectId): Promise<Id<"job">> => (await insertNew(projectId)).id;

test("a new job is read as it is reckoned to be, to the last column", async () => {
  const { id, newJob } = await insertNew(await addProject(db));
  expect(await loadJob(db, id)).toEqual(recordOfNewJob(newJob));
});

test.each([undefined, "a key"])(
  "a job is stored leased, and nobody claims it before that runs out; key: %s",
  async (key) => {
    const projectId = await addProject(db);
    const lease = { owner: createId("node", nowMs), untilMs: nowMs + 30_000 };
    const { newJob } = await insertNew(projectId);
    const id = createId("job", nowMs);
    const job = { ...newJob.job, id, ...(key !== undefined && { idempotencyKey: key }) };
    const tasks = newJob.tasks.map((task) => ({ ...task, jobId: id }));
    await insertNew(projectId, { job, tasks, lease });
    const claim = async (atMs: number) => {
      const request = {
        owner: createId("node", nowMs),
        nowMs: atMs,
        leaseUntilMs: atMs + 30_000,
        limit: 100,
        share: 100,
      };
      const claimed = await claimJobTasks(db, { ...request, fullProjects: new Set() });
      return claimed.filter(({ jobId }) => jobId === id);
    };
    expect(await claim(nowMs + 29_999)).toEqual([]);
    expect(await claim(nowMs + 30_000)).toMatchObject([{ leaseToken: 2, attempt: 2, losses: 1 }]);
  },
);

test("submissions that come together are each stored whole, with their log and task; one that is refused fails alone", async () => {
  const projectId = await addProject(db);
  const missing = createId("prj", nowMs);
  const results = await Promise.allSettled(
    Array.from({ length: 12 }, (_, index) => insert(index === 5 ? missing : projectId)),
  );
  expect(results.flatMap(({ status }, index) => (status === "rejected" ? [index] : []))).toEqual([5]);
  const ids = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  expect(await loadJobProgram(db, projectId, digest)).toEqual(program);
  const found = await loadJobsWithSteps(db, [...ids, createId("job", nowMs)]);
  expect(found.map((entry) => entry?.job.id)).toEqual([...ids, undefined]);
  for (const id of ids) {
    expect(await loadJob(db, id)).toMatchObject({
      projectId,
      status: "queued",
      input: Buffer.from([0, 255, 92]),
      ...newJobDocuments,
      params: { text: 'a"b\\c\nd', list: [1, null] },
      principalChain: ["key:k", 'skill:"x", y'],
      keyId,
      deadlineAt: nowMs + 5_000,
      deadlineLeftMs: null,
      park: null,
      lastSeq: 2,
      generation: 1,
    });
    const events = await jobsForProject(db, projectId).listEvents(id, { afterSeq: 0, limit: 10 });
    expect(events.map(({ seq, type }) => [seq, type])).toEqual([
      [1, "job-submitted"],
      [2, "ask-raised"],
    ]);
  }
  const claim = {
    owner: createId("node", nowMs),
    nowMs,
    leaseUntilMs: nowMs + 1,
    limit: 50,
    share: 50,
    fullProjects: new Set<never>(),
  };
  expect((await claimJobTasks(db, claim)).map(({ jobId }) => jobId).sort()).toEqual([...ids].sort());
});
