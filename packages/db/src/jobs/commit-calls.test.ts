import { createId, type Id, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { newJobDocuments } from "@svc/testing/job-documents";
import { afterAll, expect, test } from "vitest";
import { type CallRecord, putToolCalls } from "../calls/repo.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { type CommitOptions, commitJobs, type JobChange, type RunLease } from "./commit-job.ts";
import { insertJobs } from "./insert.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const owner = createId("node", nowMs);
const options: CommitOptions = { nowMs, seesCancel: false, seesPause: false };

/** Adds a job whose run task is leased by a node. */
async function leasedJob(projectId: ProjectId): Promise<RunLease> {
  const jobId = createId("job", nowMs);
  const digest = Buffer.alloc(32, 1);
  const job = {
    ...newJobDocuments,
    id: jobId,
    projectId,
    status: "queued" as const,
    mode: "live" as const,
    programDigest: digest,
    keyId: createId("key", nowMs),
    principalChain: ["key:k"],
    contentDigest: digest,
    createdAt: nowMs,
    updatedAt: nowMs,
  };
  const program = { projectId, digest, program: "{}", sealedProgram: null, programHash: "h", pins: "{}" };
  const tasks = [{ jobId, kind: "run", subject: "", projectId, dueAt: nowMs } as const];
  const lease = { owner, untilMs: nowMs + 30_000 };
  await insertJobs(db, program, [{ job, events: [], tasks, lease }], nowMs);
  return { jobId, owner, leaseToken: 1 };
}

function callOf(projectId: ProjectId, jobId: Id<"job">, changes: Partial<CallRecord> = {}): CallRecord {
  return {
    id: createId("call", nowMs),
    projectId,
    toolSlug: "desk.send_note",
    accessClass: "write",
    entityId: "ops",
    accountId: undefined,
    keyId: undefined,
    jobId,
    stepId: "note",
    outcome: "running",
    message: "",
    sealedMessage: undefined,
    providerStatus: 0,
    argumentsDigest: Buffer.alloc(32, 1),
    arguments: Buffer.from("sealed"),
    result: undefined,
    isTruncated: false,
    isSandbox: false,
    idempotencyKey: `of ${jobId}`,
    replay: undefined,
    createdAt: nowMs,
    durationMs: 0,
    providerMs: 0,
    ...changes,
  };
}

function change(part: Partial<JobChange>): JobChange {
  const { used, saga } = newJobDocuments;
  const job = {
    status: "running",
    generation: 1,
    position: 0,
    progress: null,
    planApprovalId: "",
    park: null,
  } as const;
  const rest = { deadlineAt: null, deadlineLeftMs: null, lastError: "", finishedAt: null };
  return { job: { ...job, ...rest, used, saga }, events: [], steps: [], task: "keep", isProgress: true, ...part };
}

async function ledgerOf({ jobId }: RunLease) {
  return db.sql.unsafe(
    "select outcome, idempotency_key, duration_ms from tool_calls where job_id = $1 order by outcome",
    [uuidOfId(jobId)],
  );
}

test("of two jobs in one statement the one whose lease is lost begins no call, and ends none", async () => {
  const projectId = await addProject(db);
  const held = await leasedJob(projectId);
  const lost = { ...(await leasedJob(projectId)), leaseToken: 7 };
  const begun = [held, lost].map((lease) => callOf(projectId, lease.jobId));
  const began = await commitJobs(
    db,
    [held, lost].map((lease, index) => ({ lease, change: change({ begunCall: begun[index] }), options })),
  );
  expect(began).toMatchObject([{ hasBegunCall: true }, undefined]);
  expect(await ledgerOf(held)).toMatchObject([{ outcome: "running", idempotency_key: `of ${held.jobId}` }]);
  expect(await ledgerOf(lost)).toEqual([]);

  await putToolCalls(db, begun.slice(1));
  const ended = await commitJobs(
    db,
    [held, lost].map((lease, index) => {
      const record = { ...(begun[index] as CallRecord), outcome: "ok" as const, durationMs: 5 };
      return { lease, change: change({ madeCalls: [{ record, wasBegun: true }] }), options };
    }),
  );
  expect(ended).toMatchObject([{ hasBegunCall: false }, undefined]);
  // The job has received the result of its call. The call keeps its idempotency key, which shows that the call was sent.
  expect(await ledgerOf(held)).toMatchObject([{ outcome: "ok", idempotency_key: `of ${held.jobId}`, duration_ms: 5 }]);
  expect(await ledgerOf(lost)).toMatchObject([{ outcome: "running", idempotency_key: `of ${lost.jobId}` }]);
});

test("a call whose key another call holds is not begun, and the commit reports it", async () => {
  const projectId = await addProject(db);
  const lease = await leasedJob(projectId);
  const first = callOf(projectId, lease.jobId);
  await putToolCalls(db, [first]);
  const [committed] = await commitJobs(db, [
    { lease, change: change({ begunCall: callOf(projectId, lease.jobId) }), options },
  ]);
  expect(committed).toMatchObject({ hasBegunCall: false });
  expect(await ledgerOf(lease)).toHaveLength(1);
});

test("a call that was not begun is recorded with its job, and one that has ended does not end again", async () => {
  const projectId = await addProject(db);
  const lease = await leasedJob(projectId);
  const read = callOf(projectId, lease.jobId, { outcome: "ok", accessClass: "read", idempotencyKey: undefined });
  const ended = callOf(projectId, lease.jobId, { outcome: "outcome_unknown" });
  await putToolCalls(db, [ended]);
  const again = { ...ended, outcome: "ok" as const };
  const madeCalls = [
    { record: read, wasBegun: false },
    { record: again, wasBegun: true },
  ];
  await commitJobs(db, [{ lease, change: change({ madeCalls }), options }]);
  expect((await ledgerOf(lease)).map(({ outcome }) => outcome)).toEqual(["ok", "outcome_unknown"]);
});
