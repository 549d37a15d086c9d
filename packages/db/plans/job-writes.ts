import { newJobDocuments } from "@svc/testing/job-documents";
import type { Executor } from "../src/connect.ts";
import type { StepReceiptDocument } from "../src/documents/step-receipt.ts";
import { insertChildJobs, putJobPrograms, setChildJob } from "../src/jobs/children.ts";
import { findKeyedJob, insertJobs } from "../src/jobs/insert.ts";
import { hasFailedUndo } from "../src/jobs/undo.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
/** Id of a job in the test data that has thousands of entries for undoing its calls. */
const jobId = seededId("job", 1);
const newJobId = seededId("job", 500_001);
const digest = Buffer.from("f".repeat(64), "hex");
const program = { projectId, digest, program: "{}", sealedProgram: null, programHash: "", pins: "{}" };
const receipt: StepReceiptDocument = {
  ...{ stepId: "s", kind: "call", toolSlug: "", toolVersion: "", attempts: 0, startedAt: nowMs, errors: [] },
  state: "",
};
const child = { stepId: "s", ordinal: 0, limits: { toolCalls: 1, writes: 1, rows: 1, asks: 1, concurrency: 1 } };

const newJob = {
  job: {
    ...newJobDocuments,
    ...{ id: newJobId, projectId, programDigest: digest, contentDigest: digest },
    ...{ keyId: seededId("key", 1), createdAt: nowMs, updatedAt: nowMs },
    status: "queued",
    mode: "live",
    principalChain: ["key:k"],
  },
  events: [{ type: "step-started", stepId: "s", payload: "{}", principalChain: null }],
  tasks: [{ jobId: newJobId, kind: "run", subject: "", projectId, dueAt: nowMs }],
} as const;

/**
 * Stores a new job with an idempotency key, so that the query plans of the statements are recorded. The job's first step has already begun.
 */
async function submit(db: Executor) {
  const { job, events, tasks } = newJob;
  const keyed = { ...job, principalChain: [...job.principalChain], idempotencyKey: "new" };
  const steps = [{ stepId: "s", ordinal: 0, receipt, output: null }];
  await insertJobs(db, program, [{ job: keyed, events, tasks, steps }], nowMs);
}

async function addChild(db: Executor) {
  const { job, events, tasks } = newJob;
  const owned = { ...job, principalChain: [...job.principalChain], parentJobId: jobId, childKey: "s/new", child };
  await insertChildJobs(db, [{ job: owned, events, tasks }], nowMs);
}

// Recorded query plans of statements that the query builder writes for jobs with an idempotency key and for child jobs.
plan("the job of a new idempotency key", (db) => findKeyedJob(db, projectId, "new"));
plan("store a keyed job", submit);
plan("store a job that another runs", addChild);
plan("say where a job stands in the one that runs it", (db) => setChildJob(db, jobId, child));
plan("store programs", (db) => putJobPrograms(db, [program, { ...program, projectId: seededId("prj", 2) }]));
plan("whether something of a job could not be undone", (db) => hasFailedUndo(db, jobId));
