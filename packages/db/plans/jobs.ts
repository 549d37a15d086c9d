import { newJobDocuments } from "@svc/testing/job-documents";
import type { StepReceiptDocument } from "../src/documents/step-receipt.ts";
import { leaseIdleRunTask, renewJobLeases, takeRunTask } from "../src/job-tasks/lease.ts";
import {
  claimJobTasks,
  deleteJobTasks,
  endJobTask,
  holdJobTask,
  moveJobTask,
  putJobTasks,
  releaseJobTasks,
} from "../src/job-tasks/queue.ts";
import type { JobTaskLease } from "../src/job-tasks/task.ts";
import { beginJobAttempt, findKeyedJobAttempt, listJobAttempts } from "../src/jobs/attempts.ts";
import { lockChildJobs, readChildJobs } from "../src/jobs/children.ts";
import { commitJobPage, commitJobs, type JobChange, type JobCommit } from "../src/jobs/commit-job.ts";
import { clearJobLoopHolds, countJobLoopHold, lockJob, requestJobCancel, setJobPause } from "../src/jobs/hold.ts";
import { findKeyedJob } from "../src/jobs/insert.ts";
import { insertJobBatch } from "../src/jobs/insert-batch.ts";
import type { JobFilter } from "../src/jobs/list-filter.ts";
import { countDoneSteps, readStepReceipts } from "../src/jobs/listed-facts.ts";
import { loadJob, loadJobPins, loadJobProgram, loadJobSteps, loadJobsWithSteps } from "../src/jobs/load.ts";
import { appendJobEvents } from "../src/jobs/log.ts";
import { readJobBindings } from "../src/jobs/principals.ts";
import { jobsForProject } from "../src/jobs/repo.ts";
import { clearJobSets, readJobRowBlocks, setJobRowStates, storeJobRows, writeJobRows } from "../src/jobs/rows.ts";
import { readJobSetPositions, readJobSetRows } from "../src/jobs/sets.ts";
import { findSimulationRun, readSimulationReceipts } from "../src/jobs/simulation-run.ts";
import { sweepEndedJobs, sweepJobRows } from "../src/jobs/sweep.ts";
import { listJobUndoEntries, nextJobUndoEntries, writeJobUndo } from "../src/jobs/undo.ts";
import { skillsForProject } from "../src/skills/repo.ts";
import { callOf, nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
/** Id of a job in the generated test data that has thousands of rows, undo entries and log events. */
const jobId = seededId("job", 1);
const owner = seededId("node", 1);
const lease: JobTaskLease = { jobId, kind: "run", subject: "", leaseToken: 1 };
const leases = Array.from({ length: 20 }, (_, index) => ({ ...lease, jobId: seededId("job", index + 1) }));
const digest = Buffer.from("1".padStart(64, "0"), "hex");
const chain = ["key:k"];
const event = { type: "step-started", stepId: "s", payload: "{}", principalChain: chain };
const task = { jobId, kind: "run", subject: "", projectId, dueAt: nowMs } as const;
const setRow = {
  setId: "new",
  ordinal: 0,
  rowNumber: 1,
  state: "ok",
  doneCalls: 0,
  outputs: null,
  errorCode: "",
} as const;
const page = { after: undefined, limit: 51 };
const endedBatch = { beforeMs: seededAt(9_000), after: undefined, limit: 20, logEntriesMax: 10_000_000 };

const wholePage = { bytesMax: 1_000_000, withData: true };

const everyJob: JobFilter = {
  statuses: undefined,
  sinceMs: undefined,
  untilMs: undefined,
  mode: undefined,
  skillSlug: undefined,
  parentJobId: undefined,
  standingProgramId: undefined,
};

const newJob = {
  job: {
    ...newJobDocuments,
    id: seededId("job", 500_000),
    projectId,
    status: "queued",
    mode: "live",
    programDigest: digest,
    keyId: seededId("key", 1),
    principalChain: chain,
    contentDigest: digest,
    createdAt: nowMs,
    updatedAt: nowMs,
  },
  events: [event],
  tasks: [{ ...task, jobId: seededId("job", 500_000) }],
} as const;

const stepReceipt: StepReceiptDocument = {
  ...{
    stepId: "s",
    kind: "call",
    toolSlug: "desk.tool_1",
    toolVersion: "1",
    state: "",
    attempts: 1,
    startedAt: nowMs,
    errors: [],
  },
};
const step = { stepId: "s", ordinal: 0, receipt: stepReceipt, output: null };
const call = callOf(projectId, { id: seededId("call", 500_000), jobId, outcome: "running" });

/**
 * Records the query plan of the statement that inserts `count` new jobs. `begins`: the access class of the first call of each job, if the
 * job begins at once. Absent if the jobs wait for a node.
 */
function planInsert(name: string, count: number, begins?: "read" | "write"): void {
  const newJobs = Array.from({ length: count }, (_, index) => {
    const id = seededId("job", 500_000 + index);
    const begunCall = { ...call, id: seededId("call", 500_000 + index), jobId: id };
    const job = { ...newJob.job, id, principalChain: [...chain] };
    const begun = begins === undefined ? {} : { steps: [step], ...(begins === "write" && { begunCall }) };
    return { ...newJob, job, tasks: [{ ...task, jobId: id }], ...begun };
  });
  const program = { projectId, digest, program: "{}", sealedProgram: null, programHash: "", pins: "{}" };
  plan(name, (db) => insertJobBatch(db, { program, newJobs, nowMs }));
}

// Recorded query plans of statements on jobs and their rows.
planInsert("insert_jobs", 2, "write");
planInsert("insert_jobs_lone_begun", 1, "write");
planInsert("insert_jobs_lone_read", 1, "read");
planInsert("insert_jobs_lone", 1);
planInsert("insert_jobs_queued", 2);
plan("load_job", (db) => loadJob(db, jobId));
plan("load_locked_job", (db) => loadJob(db, jobId, { lock: true }));
plan("lock_job", (db) => lockJob(db, jobId));
plan("load_jobs", (db) =>
  loadJobsWithSteps(
    db,
    leases.map((one) => one.jobId),
  ),
);
plan("load_job_steps", (db) => loadJobSteps(db, jobId));
plan("load_job_programs", (db) => loadJobProgram(db, projectId, digest));
plan("load_job_pins", (db) => loadJobPins(db, [{ projectId, digest }]));
plan("find_job", (db) => jobsForProject(db, projectId).find(jobId));
plan("find_job_twin", (db) => findSimulationRun(db, seededId("job", 19)));
plan("read_job_bindings", (db) => readJobBindings(db, projectId, [jobId, seededId("job", 19)]));
plan("read_twin_receipts", (db) => readSimulationReceipts(db, projectId, [seededId("job", 239), seededId("job", 259)]));
plan("request_job_cancel", (db) => requestJobCancel(db, { jobId, projectId, chain, nowMs }));
plan("begin_job_attempt", (db) => {
  const attempt = { keyId: seededId("key", 1), nowMs, idempotencyKey: undefined, contentDigest: digest };
  return beginJobAttempt(db, { jobId: seededId("job", 300), resendsUnknown: true, ...attempt });
});
plan("list_job_attempts", (db) => listJobAttempts(db, [jobId, seededId("job", 19)]));
plan("find_keyed_job_attempt", (db) => findKeyedJobAttempt(db, jobId, "first"));
plan("begin_job_sweep", (db) => sweepJobRows(db, seededAt(9_600), 0));
plan("set_job_pause", (db) => setJobPause(db, jobId, { atMs: nowMs, chain }));
plan("take_idle_run_task", (db) => leaseIdleRunTask(db, { jobId, projectId, owner, nowMs, leaseUntilMs: nowMs }));
plan("count_job_loop_hold", (db) => countJobLoopHold(db, jobId));
plan("clear_job_loop_holds", (db) => clearJobLoopHolds(db, jobId));
plan("append_job_events", (db) => appendJobEvents(db, jobId, [event, event], nowMs));
const runCommit: JobCommit = {
  lease: { jobId, owner, leaseToken: 1 },
  change: {
    job: {
      ...newJobDocuments,
      status: "running",
      generation: 1,
      position: 1,
      progress: null,
      planApprovalId: "",
      park: null,
      deadlineAt: null,
      deadlineLeftMs: null,
      lastError: "",
      finishedAt: null,
    },
    events: [event],
    steps: [],
    task: "end",
    isProgress: true,
  },
  options: { nowMs, seesCancel: false, seesPause: false },
};
const rowPage = {
  rows: [{ rowNumber: 500_000, data: Buffer.alloc(1) }],
  run: { setId: "new", fromOrdinal: 0, rowNumbers: [1, 2, 3] },
};
plan("commit_job_page", (db) => commitJobPage(db, runCommit, rowPage));

/** Records the query plan of a commit for `count` jobs. `change`: values that replace those of `runCommit`. */
function planCommit(name: string, count: number, change: Partial<JobChange>): void {
  const commits = leases.slice(0, count).map(({ jobId: id }) => ({
    ...runCommit,
    lease: { ...runCommit.lease, jobId: id },
    change: { ...runCommit.change, ...change },
  }));
  plan(name, (db) => commitJobs(db, commits));
}

const storedStep = { ...step, isStored: true };
const nextSteps = [storedStep, { ...step, stepId: "t" }];
const read = { record: call, wasBegun: false };
const write = { record: call, wasBegun: true };
const nextCall = { ...call, id: seededId("call", 500_001) };
const nextWrite = { steps: nextSteps, madeCalls: [write], begunCall: nextCall, task: "keep" } as const;
planCommit("commit_job_runs", 2, nextWrite);
planCommit("commit_job_runs_lone_write_end", 1, { steps: [storedStep], madeCalls: [write] });
planCommit("commit_job_runs_lone_read_end", 1, { steps: [storedStep], madeCalls: [read] });
planCommit("commit_job_runs_lone_first_call", 1, { steps: [step], begunCall: call, task: "keep" });
planCommit("commit_job_runs_lone_next_read", 1, { steps: nextSteps, madeCalls: [read], task: "keep" });
planCommit("commit_job_runs_lone_next_write", 1, nextWrite);
planCommit("commit_job_runs_write_ends", 2, { steps: [storedStep], madeCalls: [write] });
planCommit("commit_job_runs_read_ends", 2, { steps: [storedStep], madeCalls: [read] });
plan("write_job_rows", (db) =>
  writeJobRows(db, jobId, { rows: [{ rowNumber: 500_000, data: Buffer.alloc(1) }], setRows: [setRow] }),
);
plan("place_job_rows", (db) => storeJobRows(db, jobId, rowPage));
plan("write_job_undo_entries", (db) =>
  writeJobUndo(db, jobId, {
    entries: [{ entry: 500_000, stepId: "s", ordinal: 0, toolSlug: "", entityId: "", args: Buffer.alloc(1) }],
    changes: [{ entry: 7, state: "done" }],
  }),
);
plan("next_job_undo_entries", (db) => nextJobUndoEntries(db, jobId, 1), { rowsMax: { job_undo_entries: 5 } });
plan("list_job_undo_entries", (db) => listJobUndoEntries(db, jobId, { afterEntry: 0, limit: 51 }), {
  rowsMax: { job_undo_entries: 60 },
});
plan(
  "read_job_set_rows",
  (db) => readJobSetRows(db, { jobId, setId: "s" }, { fromOrdinal: 5_000, limit: 50, ...wholePage }),
  { rowsMax: { job_set_rows: 50, job_rows: 50 } },
);
plan(
  "read_job_set_rows_of_state",
  (db) => readJobSetRows(db, { jobId, setId: "s", state: "failed" }, { fromOrdinal: 5_000, limit: 20, ...wholePage }),
  { rowsMax: { job_set_rows: 20, job_rows: 20 } },
);
plan("read_job_set_rows_in", (db) =>
  readJobSetRows(db, { jobId, setId: "s", states: ["ok", "in"] }, { fromOrdinal: 5_000, limit: 50, ...wholePage }),
);
plan("read_job_set_places", (db) => readJobSetPositions(db, { jobId, setId: "s" }, { fromOrdinal: 5_000, limit: 50 }), {
  rowsMax: { job_set_rows: 50 },
});
plan("read_job_set_places_in", (db) =>
  readJobSetPositions(db, { jobId, setId: "s", states: ["ok", "in"] }, { fromOrdinal: 5_000, limit: 50 }),
);
plan(
  "read_job_row_blocks",
  (db) => readJobRowBlocks(db, jobId, { firsts: [50, 700], lasts: [60, 710], bytesMax: 1_000_000 }),
  { rowsMax: { job_rows: 60 } },
);
plan("set_job_row_states", (db) => setJobRowStates(db, { jobId, setId: "s" }, { from: "failed", to: "skipped" }));
plan("clear_job_sets", (db) => clearJobSets(db, jobId, ["t"]));
plan(["find_unswept_jobs", "sweep_job_set_rows", "sweep_job_rows", "finish_job_sweep"], (db) =>
  sweepJobRows(db, seededAt(9_600), 1_000),
);
plan("lock_ended_jobs", (db) => sweepEndedJobs(db, endedBatch), {
  // The statement also reads jobs without a task. They are one in forty.
  rowsMax: { jobs: 2_000, job_tasks: 2_000 },
});
plan("delete_ended_jobs", (db) => sweepEndedJobs(db, endedBatch));
plan("the job of an idempotency key", (db) => findKeyedJob(db, projectId, "k6"));
plan("list_jobs", (db) => jobsForProject(db, projectId).list(everyJob, page), {
  // The list reads a page of jobs for each of two statuses, and then the programs of the page that it returns.
  rowsMax: { jobs: 4 * 51, job_programs: 51 },
});
plan(
  "list_jobs, of a status",
  (db) => jobsForProject(db, projectId).list({ ...everyJob, statuses: ["running"] }, page),
  { rowsMax: { jobs: 3 * 51, job_programs: 51 } },
);
plan("list_jobs, of simulations", (db) => jobsForProject(db, projectId).list({ ...everyJob, mode: "simulate" }, page), {
  rowsMax: { jobs: 4 * 51, job_programs: 51 },
});
plan("list_jobs_of_standing_program", (db) =>
  jobsForProject(db, projectId).list({ ...everyJob, standingProgramId: seededId("stp", 1) }, page),
);
plan("list_jobs_of_skill", (db) => jobsForProject(db, projectId).list({ ...everyJob, skillSlug: "clean_up" }, page), {
  rowsMax: { jobs: 4 * 51 },
});
plan("list_jobs_of_parent", (db) => jobsForProject(db, projectId).list({ ...everyJob, parentJobId: jobId }, page), {
  rowsMax: { jobs: 4 * 51 },
});
plan("read_child_jobs", (db) => readChildJobs(db, [seededId("job", 9), seededId("job", 49)]));
plan("lock_child_jobs", (db) => lockChildJobs(db, [seededId("job", 9), seededId("job", 49)]));
plan("list_rehearsals", (db) => jobsForProject(db, projectId).list({ ...everyJob, mode: "rehearse" }, page), {
  rowsMax: { jobs: 4 * 51 },
});
plan("find_listed_twin", (db) => jobsForProject(db, projectId).findSimulationRun(seededId("job", 239)));
plan("list_job_steps", (db) => jobsForProject(db, projectId).listSteps(leases.map((one) => one.jobId)));
plan("read_step_receipts", (db) =>
  readStepReceipts(
    db,
    projectId,
    leases.map((one, index) => ({ jobId: one.jobId, stepId: index % 2 === 0 ? "" : "step_1" })),
  ),
);
plan("count_done_steps", (db) =>
  countDoneSteps(
    db,
    projectId,
    leases.map((one) => one.jobId),
  ),
);
plan("read_job_log", (db) => jobsForProject(db, projectId).listEvents(jobId, { afterSeq: 4_000, limit: 100 }));
plan("find_skill", (db) => skillsForProject(db, projectId).find({ slug: "skill_1", version: 0 }));
plan("list_skills", (db) => skillsForProject(db, projectId).list());
plan("list_called_tools", (db) => skillsForProject(db, projectId).listCalled(50));
plan("list_skill_versions", (db) => skillsForProject(db, projectId).listVersions("skill_1"));

// Recorded query plans of statements that find due work.
plan(
  "claim_job_tasks",
  (db) =>
    claimJobTasks(db, {
      owner,
      nowMs,
      leaseUntilMs: nowMs + 30_000,
      limit: 10,
      share: 5,
      fullProjects: new Set([seededId("prj", 7)]),
    }),
  { rowsMax: { job_tasks: 500 } },
);
plan("renew_job_leases", (db) => renewJobLeases(db, leases, nowMs));
plan("release_job_leases", (db) => releaseJobTasks(db, leases, nowMs));
plan("release_job_lease", (db) => releaseJobTasks(db, [{ ...lease, leaseToken: 999 }], nowMs));
plan("hold_job_task", (db) => holdJobTask(db, lease));
plan("end_job_task", (db) => endJobTask(db, lease));
plan("move_job_task", (db) => moveJobTask(db, lease, nowMs));
plan("put_job_tasks", (db) => putJobTasks(db, [task]));
plan("take_run_task", (db) => takeRunTask(db, { jobId, projectId, dueAt: nowMs }));
plan("delete_job_tasks", (db) => deleteJobTasks(db, { jobId, kinds: ["hop", "reach"], subject: "ask" }));
