import { newJobDocuments } from "@svc/testing/job-documents";
import type { Executor } from "../connect.ts";
import type { StepReceiptDocument } from "../documents/step-receipt.ts";
import { insertChildJobs, putJobPrograms, setChildJob } from "../jobs/children.ts";
import { findKeyedJob, insertJobs } from "../jobs/insert.ts";
import { hasFailedUndo } from "../jobs/undo-entries.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
/** The one with thousands of undo entries. */
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

/** Submits a job that binds an idempotency key, whose first step has begun. */
async function submit(db: Executor) {
  const { job, events, tasks } = newJob;
  const keyed = { ...job, principalChain: [...job.principalChain], idempotencyKey: "new" };
  const steps = [{ stepId: "s", ordinal: 0, receipt, output: null }];
  await insertJobs(db, program, [{ job: keyed, events, tasks, steps }], nowMs);
}

/** Has a job run another one. */
async function addChild(db: Executor) {
  const { job, events, tasks } = newJob;
  const owned = { ...job, principalChain: [...job.principalChain], parentJobId: jobId, childKey: "s/new", child };
  await insertChildJobs(db, [{ job: owned, events, tasks }], nowMs);
}

/** Jobs that are written with the query builder: those that bind an idempotency key, and those that others run. */
export const jobWritePlans: readonly Plan[] = [
  {
    name: "the job of a new idempotency key",
    run: (db) => findKeyedJob(db, projectId, "new"),
    reads: { jobs: "jobs_idempotency_key(project_id, idempotency_key)" },
  },
  { name: "store the program of a keyed job", words: `insert into "job_programs"`, run: submit, reads: {} },
  { name: "store a keyed job", words: `insert into "jobs"`, run: submit, reads: {} },
  { name: "store the first step of a keyed job", words: `insert into "job_steps"`, run: submit, reads: {} },
  { name: "store a job that another runs", words: `insert into "jobs"`, run: addChild, reads: {} },
  { name: "begin the log of a job that another runs", words: `insert into "job_events"`, run: addChild, reads: {} },
  {
    name: "say where a job stands in the one that runs it",
    run: (db) => setChildJob(db, jobId, child),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "store programs",
    run: (db) => putJobPrograms(db, [program, { ...program, projectId: seededId("prj", 2) }]),
    reads: {},
  },
  {
    // Those of one job, of which some calls made one each.
    name: "whether something of a job could not be undone",
    run: (db) => hasFailedUndo(db, jobId),
    reads: { job_undo_entries: "job_undo_entries_key(job_id)" },
  },
];
