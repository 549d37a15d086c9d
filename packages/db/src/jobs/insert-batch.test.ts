import { createId, type Id, type ProjectId } from "@svc/core";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { newJobDocuments } from "@svc/testing/job-documents";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../connect.ts";
import { claimJobTasks } from "../job-tasks/claim.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { insertJobs } from "./insert.ts";
import { loadJob, loadJobsWithSteps } from "./load.ts";
import { loadJobProgram } from "./load-program.ts";
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

async function insert(projectId: ProjectId): Promise<Id<"job">> {
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
  await insertJobs(db, { ...program, projectId, digest }, [newJob], nowMs);
  return id;
}

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
