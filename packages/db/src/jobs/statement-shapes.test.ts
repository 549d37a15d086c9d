import { createId, type Id, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { newJobDocuments } from "@svc/testing/job-documents";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { Database } from "../connect.ts";
import type { StepReceiptDocument } from "../documents/step-receipt.ts";
import { addProject, callOf, nowMs } from "../test-rows.ts";
import { commitJobs, type JobChange, type JobCommit } from "./commit-job.ts";
import { insertJobBatch } from "./insert-batch.ts";

// A single job is stored by a short statement that has only the parts that this job needs. Several jobs are stored by a statement with all
// parts, whose parameters are arrays. Both must write the same rows.

const { db, drop } = await createTestDatabase();
afterAll(drop);

const owner = createId("node", nowMs);
const digest = Buffer.alloc(32, 1);
const keyId = createId("key", nowMs);
const program = { digest, program: "{}", sealedProgram: null, programHash: "h", pins: "{}" };
const odd = 'a"b\\c,{}\n NULL ü';

function stepOf(stepId: string, ordinal: number, hasOutput: boolean) {
  const receipt: StepReceiptDocument = {
    ...{ stepId, kind: "call", toolSlug: odd, toolVersion: "1", state: "", attempts: 1, startedAt: nowMs, errors: [] },
  };
  return { stepId, ordinal, receipt, output: hasOutput ? Buffer.from([0, 255, 92, 34]) : null };
}

const eventOf = (type: string, chain?: string[]) => ({
  ...{ type, stepId: "s", payload: JSON.stringify({ odd }), principalChain: chain ?? null },
});

function newJob(projectId: ProjectId, begins: "" | "read" | "write") {
  const id = createId("job", nowMs);
  const job = {
    ...{
      ...newJobDocuments,
      id,
      projectId,
      status: "running" as const,
      mode: "live" as const,
      programDigest: digest,
      keyId,
    },
    ...{ principalChain: [odd], contentDigest: digest, input: Buffer.from(odd), createdAt: nowMs, updatedAt: nowMs },
  };
  const tasks = [{ jobId: id, kind: "run" as const, subject: "", projectId, dueAt: nowMs }];
  const begunCall = { ...callOf(projectId, { jobId: id, outcome: "running" }), accountId: null, keyId };
  const begun = { ...(begins !== "" && { steps: [stepOf("s", 0, false)] }), ...(begins === "write" && { begunCall }) };
  const lease = { owner, untilMs: nowMs + 30_000 };
  return { job, events: [eventOf("job-submitted", [odd]), eventOf("step-started")], tasks, lease, ...begun };
}

/** Returns everything that is stored about a job, except ids. */
async function storedOf(jobId: Id<"job">): Promise<string> {
  const [row] = await db.sql<[{ stored: string }]>`
    select json_build_array(
      (select to_jsonb(j) - 'id' from jobs j where id = ${uuidOfId(jobId)}),
      (select json_agg(to_jsonb(s) - 'job_id' order by s.ordinal) from job_steps s where job_id = ${uuidOfId(jobId)}),
      (select json_agg(to_jsonb(c) - 'job_id' - 'id' order by c.outcome, c.message) from tool_calls c where job_id = ${uuidOfId(jobId)}),
      (select json_agg(to_jsonb(e) - 'job_id' order by e.seq) from job_events e where job_id = ${uuidOfId(jobId)}),
      (select json_agg(to_jsonb(t) - 'job_id' order by t.kind) from job_tasks t where job_id = ${uuidOfId(jobId)}))::text as stored`;
  return row.stored;
}

/** Calls `run`, and returns the names of the statements that it sent. */
async function namesOf(run: (counted: Database) => Promise<unknown>): Promise<string[]> {
  const names: string[] = [];
  const sql = new Proxy(db.sql, {
    get(target, name) {
      if (name !== "unsafe") return Reflect.get(target, name, target);
      return (...given: Parameters<typeof target.unsafe>) => {
        names.push(/^\/\* (\w+) \*\//.exec(given[0])?.[1] ?? "");
        return target.unsafe(...given);
      };
    },
  });
  await run({ ...db, sql });
  return names;
}

test.each([
  { begins: "write", lone: "insert_jobs_lone_begun", together: "insert_jobs" },
  { begins: "read", lone: "insert_jobs_lone_read", together: "insert_jobs" },
  { begins: "", lone: "insert_jobs_lone", together: "insert_jobs_queued" },
] as const)("a job that is stored alone ($lone) is stored as beside another", async ({ begins, ...expected }) => {
  const projectId = await addProject(db);
  const [alone, one, other] = [newJob(projectId, begins), newJob(projectId, begins), newJob(projectId, begins)];
  const insert = { program: { ...program, projectId }, nowMs };
  const names = [
    await namesOf((on) => insertJobBatch(on, { ...insert, newJobs: [alone] })),
    await namesOf((on) => insertJobBatch(on, { ...insert, newJobs: [one, other] })),
  ];
  expect(names).toEqual([[expected.lone], [expected.together]]);
  expect(await storedOf(alone.job.id)).toBe(await storedOf(one.job.id));
});

const changes = fc.record({
  events: fc.nat(2),
  steps: fc.subarray(["s", "t", "u"]),
  made: fc.constantFrom("" as const, "begun" as const, "new" as const),
  begins: fc.boolean(),
  task: fc.constantFrom("keep" as const, "end" as const, { dueAtMs: nowMs + 9_000 }),
  hasReceipt: fc.boolean(),
  requests: fc.constantFrom("" as const, "cancel" as const, "pause" as const),
  seesCancel: fc.boolean(),
  seesPause: fc.boolean(),
  isLost: fc.boolean(),
  expectedSeq: fc.constantFrom(undefined, 2, 3),
});
type Changes = typeof changes extends fc.Arbitrary<infer Value> ? Value : never;

/** Commits for which a shorter statement exists, if they are sent for one job alone. */
const usual = {
  hasReceipt: true,
  requests: "",
  seesCancel: false,
  seesPause: false,
  isLost: false,
  expectedSeq: 2,
} as const;
const writeEnd: Changes = { ...usual, events: 1, steps: ["s"], made: "begun", begins: false, task: "end" };
const readEnd: Changes = { ...writeEnd, events: 2, made: "new" };
const firstCall: Changes = { ...usual, events: 2, steps: ["t"], made: "", begins: true, task: "keep" };
const nextRead: Changes = { ...readEnd, steps: ["s", "t"], task: "keep" };
const nextWrite: Changes = { ...nextRead, made: "begun", begins: true };
const frequent = [writeEnd, readEnd, firstCall, nextRead, nextWrite];

/** Stores a job that has begun. Returns the commit that applies these changes to the job. */
async function commitOf(projectId: ProjectId, given: Changes): Promise<JobCommit> {
  const stored = newJob(projectId, "write");
  const { id: jobId } = stored.job;
  await insertJobBatch(db, { program: { ...program, projectId }, newJobs: [stored], nowMs });
  if (given.requests === "cancel")
    await db.sql`update jobs set cancel_requested_at = now(), cancel_chain = array['c'] where id = ${uuidOfId(jobId)}`;
  if (given.requests === "pause") await db.sql`update jobs set paused_at = now() where id = ${uuidOfId(jobId)}`;
  const { begunCall } = stored;
  const made = callOf(projectId, {
    jobId,
    outcome: "ok",
    result: Buffer.from(odd),
    message: odd,
    keyId,
    accountId: null,
  });
  const change: JobChange = {
    job: {
      ...{
        ...newJobDocuments,
        status: "running",
        generation: 1,
        position: 1,
        progress: Buffer.from(odd),
        planApprovalId: odd,
      },
      ...{ park: null, deadlineAt: nowMs, deadlineLeftMs: null, lastError: odd, finishedAt: null },
      ...(given.hasReceipt && { overrides: Buffer.from(odd) }),
    },
    events: Array.from({ length: given.events }, (_, index) =>
      eventOf(`type-${index}`, index === 0 ? [odd] : undefined),
    ),
    steps: given.steps.map((id, index) => ({ ...stepOf(id, index, true), isStored: id === "s" })),
    ...{ task: given.task, isProgress: true },
    ...(given.begins && { begunCall: callOf(projectId, { jobId, outcome: "running", keyId, accountId: null }) }),
    madeCalls: [
      ...(given.made === "begun" && begunCall ? [{ record: { ...made, id: begunCall.id }, wasBegun: true }] : []),
      ...(given.made === "new" ? [{ record: made, wasBegun: false }] : []),
    ],
  };
  const { seesCancel, seesPause, expectedSeq } = given;
  const leaseToken = given.isLost ? 7 : 1;
  return { lease: { jobId, owner, leaseToken }, change, options: { nowMs, seesCancel, seesPause, expectedSeq } };
}

test("a job that commits alone writes and learns the same as beside others", async () => {
  const projectId = await addProject(db);
  const used = new Set<string>();
  const check = async (given: Changes) => {
    const alone = await commitOf(projectId, given);
    const one = await commitOf(projectId, given);
    // The other commits have rows for every part of the statement. So the complete statement is sent.
    const others = await Promise.all([nextWrite, writeEnd].map((other) => commitOf(projectId, other)));
    let found: unknown;
    for (const name of await namesOf(async (on) => {
      [found] = await commitJobs(on, [alone]);
    }))
      used.add(name);
    const whole: unknown[] = [];
    const names = await namesOf(async (on) => {
      whole.push(...(await commitJobs(on, [one, ...others])));
    });
    expect(names).toEqual(["commit_job_runs"]);
    const withoutTimes = (value: unknown) =>
      JSON.parse(JSON.stringify(value ?? null).replace(/"(cancelRequestedAt|pausedAt)":[\d.]+/g, '"$1":1'));
    expect(withoutTimes(found)).toEqual(withoutTimes(whole[0]));
    const times = /"(cancel_requested_at|paused_at)": "[^"]*"/g;
    expect((await storedOf(alone.lease.jobId)).replaceAll(times, "")).toBe(
      (await storedOf(one.lease.jobId)).replaceAll(times, ""),
    );
  };
  for (const given of frequent) await check(given);
  expect([...used].sort()).toEqual(
    ["first_call", "next_read", "next_write", "read_end", "write_end"].map((end) => `commit_job_runs_lone_${end}`),
  );
  await fc.assert(fc.asyncProperty(changes, check), { numRuns: 60 });
});

test.each(["write_ends", "read_ends"])(
  "jobs that end together (%s) write the same as beside jobs of every part",
  async (end) => {
    const projectId = await addProject(db);
    const given = end === "write_ends" ? writeEnd : readEnd;
    const together = await Promise.all(
      [given, { ...given, isLost: true }, given].map((one) => commitOf(projectId, one)),
    );
    const beside = await Promise.all([given, nextWrite].map((one) => commitOf(projectId, one)));
    const found: unknown[] = [];
    const run = (commits: JobCommit[]) =>
      namesOf(async (on) => {
        found.push(await commitJobs(on, commits));
      });
    expect([await run(together), await run(beside)]).toEqual([[`commit_job_runs_${end}`], ["commit_job_runs"]]);
    expect(found[0]).toMatchObject([{ hasBegunCall: false }, undefined, { hasBegunCall: false }]);
    const [first, lost, last, other] = await Promise.all(
      [...together, ...beside].map(({ lease }) => storedOf(lease.jobId)),
    );
    expect([first, last]).toEqual([other, other]);
    expect(lost).not.toBe(other);
  },
);
