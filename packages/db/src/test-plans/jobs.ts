import { newJobDocuments } from "@svc/testing/job-documents";
import { claimJobTasks } from "../job-tasks/claim.ts";
import { deleteJobTasks } from "../job-tasks/delete.ts";
import { endJobTask } from "../job-tasks/end.ts";
import { holdJobTask } from "../job-tasks/hold.ts";
import { moveJobTask } from "../job-tasks/move.ts";
import { putJobTasks } from "../job-tasks/put.ts";
import { releaseJobTasks } from "../job-tasks/release.ts";
import { renewJobLeases } from "../job-tasks/renew.ts";
import { leaseIdleRunTask, takeRunTask } from "../job-tasks/take-run.ts";
import type { JobTaskLease } from "../job-tasks/task.ts";
import { appendJobEvents } from "../jobs/append-events.ts";
import { beginJobAttempt, findKeyedJobAttempt, listJobAttempts } from "../jobs/attempts.ts";
import { requestJobCancel } from "../jobs/cancel.ts";
import { lockChildJobs, readChildJobs } from "../jobs/children.ts";
import { clearJobSets } from "../jobs/clear-sets.ts";
import { commitJobs } from "../jobs/commit-job.ts";
import { findJobTwin } from "../jobs/find-twin.ts";
import { findKeyedJob } from "../jobs/insert.ts";
import { insertJobBatch } from "../jobs/insert-batch.ts";
import type { JobFilter } from "../jobs/list-filter.ts";
import { loadJob, loadJobsWithSteps } from "../jobs/load.ts";
import { loadJobPins, loadJobProgram } from "../jobs/load-program.ts";
import { loadJobSteps } from "../jobs/load-steps.ts";
import { lockJob } from "../jobs/lock.ts";
import { clearJobLoopHolds, countJobLoopHold } from "../jobs/loop-holds.ts";
import { setJobPause } from "../jobs/pause.ts";
import { readJobBindings } from "../jobs/read-bindings.ts";
import { readJobRowBlocks } from "../jobs/read-row-blocks.ts";
import { readJobSetPlaces } from "../jobs/read-set-places.ts";
import { readJobSetRows } from "../jobs/read-set-rows.ts";
import { readTwinReceipts } from "../jobs/read-twin-receipts.ts";
import { jobsForProject } from "../jobs/repo.ts";
import { setJobRowStates } from "../jobs/set-row-states.ts";
import { sweepJobRows } from "../jobs/sweep.ts";
import { sweepEndedJobs } from "../jobs/sweep-ended.ts";
import { listJobUndoEntries, nextJobUndoEntries } from "../jobs/undo-entries.ts";
import { placeJobRows, writeJobRows } from "../jobs/write-rows.ts";
import { writeJobUndo } from "../jobs/write-undo.ts";
import { skillsForProject } from "../skills/repo.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
/** The one with thousands of rows, entries and events. */
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
const wholePage = { bytesMax: 1_000_000, withData: true };
const endedBatch = { beforeMs: seededAt(9_000), after: undefined, limit: 20, logEntriesMax: 10_000_000 };
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

/** A list is merged from scans of these, and its page is read by key. */
const listedBy = [
  "jobs_status(project_id, status, id)",
  "jobs_simulations(project_id, status, id)",
  "jobs_twins(project_id, status, id)",
  "jobs_pkey(id)",
];

const taskKey = "job_tasks_key(job_id, kind, subject)";

/** Jobs and what belongs to them. */
export const jobPlans: readonly Plan[] = [
  {
    name: "insert_jobs",
    run: (db) =>
      insertJobBatch(db, {
        program: { projectId, digest, program: "{}", sealedProgram: null, programHash: "", pins: "{}" },
        newJobs: [{ ...newJob, job: { ...newJob.job, principalChain: [...chain] } }],
        nowMs,
      }),
    reads: {
      jobs: ["jobs_status(project_id, status)", "jobs_other_status(project_id, status)"],
      project_policies: "project_policies_pkey(project_id)",
    },
  },
  { name: "load_job", run: (db) => loadJob(db, jobId), reads: { jobs: "jobs_pkey(id)" } },
  { name: "load_locked_job", run: (db) => loadJob(db, jobId, { lock: true }), reads: { jobs: "jobs_pkey(id)" } },
  { name: "lock_job", run: (db) => lockJob(db, jobId), reads: { jobs: "jobs_pkey(id)" } },
  {
    name: "load_jobs",
    run: (db) =>
      loadJobsWithSteps(
        db,
        leases.map((one) => one.jobId),
      ),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "load_job_steps",
    run: (db) => loadJobSteps(db, jobId),
    reads: { job_steps: "job_steps_key(job_id)" },
  },
  {
    name: "load_job_programs",
    run: (db) => loadJobProgram(db, projectId, digest),
    reads: { job_programs: "job_programs_key(project_id, digest)" },
  },
  {
    name: "load_job_pins",
    run: (db) => loadJobPins(db, [{ projectId, digest }]),
    reads: { job_programs: "job_programs_key(project_id, digest)" },
  },
  {
    name: "find_job",
    run: (db) => jobsForProject(db, projectId).find(jobId),
    reads: {
      jobs: "jobs_pkey(id)",
      job_programs: "job_programs_key(project_id, digest)",
    },
  },
  {
    name: "find_job_twin",
    run: (db) => findJobTwin(db, seededId("job", 19)),
    reads: { jobs: "jobs_simulated_from(simulated_from)" },
  },
  {
    name: "read_job_bindings",
    run: (db) => readJobBindings(db, projectId, [jobId, seededId("job", 19)]),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "read_twin_receipts",
    run: (db) => readTwinReceipts(db, projectId, [seededId("job", 239), seededId("job", 259)]),
    reads: { jobs: "jobs_simulated_from(simulated_from)" },
  },
  {
    name: "request_job_cancel",
    run: (db) => requestJobCancel(db, { jobId, projectId, chain, nowMs }),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "begin_job_attempt",
    run: (db) => {
      const attempt = { keyId: seededId("key", 1), nowMs, idempotencyKey: undefined, contentDigest: digest };
      return beginJobAttempt(db, { jobId: seededId("job", 300), resendsUnknown: true, ...attempt });
    },
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "list_job_attempts",
    run: (db) => listJobAttempts(db, [jobId, seededId("job", 19)]),
    reads: { job_attempts: "job_attempts_key(job_id)", jobs: "jobs_pkey(id)" },
  },
  {
    name: "find_keyed_job_attempt",
    run: (db) => findKeyedJobAttempt(db, jobId, "first"),
    reads: { job_attempts: "job_attempts_key(job_id)" },
  },
  {
    name: "begin_job_sweep",
    run: (db) => sweepJobRows(db, seededAt(9_600), 0),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "set_job_pause",
    run: (db) => setJobPause(db, jobId, { atMs: nowMs, chain }),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "take_idle_run_task",
    run: (db) => leaseIdleRunTask(db, { jobId, projectId, owner, nowMs, leaseUntilMs: nowMs }),
    reads: { job_tasks: taskKey },
  },
  {
    name: "count_job_loop_hold",
    run: (db) => countJobLoopHold(db, jobId),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "clear_job_loop_holds",
    run: (db) => clearJobLoopHolds(db, jobId),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "append_job_events",
    run: (db) => appendJobEvents(db, jobId, [event, event], nowMs),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "commit_job_runs",
    run: (db) =>
      commitJobs(db, [
        {
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
        },
      ]),
    reads: {
      tool_calls: "tool_calls_pkey(id)",
      jobs: "jobs_pkey(id)",
      job_tasks: taskKey,
      job_steps: "job_steps_key(job_id, step_id)",
    },
  },
  {
    name: "write_job_rows",
    run: (db) => writeJobRows(db, jobId, { rows: [{ rowNumber: 500_000, data: Buffer.alloc(1) }], setRows: [setRow] }),
    reads: {},
  },
  {
    name: "place_job_rows",
    run: (db) =>
      placeJobRows(db, jobId, {
        rows: [{ rowNumber: 500_000, data: Buffer.alloc(1) }],
        run: { setId: "new", fromOrdinal: 0, rowNumbers: [1, 2, 3] },
      }),
    reads: {},
  },
  {
    name: "write_job_undo_entries",
    run: (db) =>
      writeJobUndo(db, jobId, {
        entries: [{ entry: 500_000, stepId: "s", ordinal: 0, toolSlug: "", entityId: "", args: Buffer.alloc(1) }],
        changes: [{ entry: 7, state: "done" }],
      }),
    reads: { job_undo_entries: "job_undo_entries_key(job_id, entry)" },
  },
  {
    name: "next_job_undo_entries",
    run: (db) => nextJobUndoEntries(db, jobId, 1),
    reads: { job_undo_entries: "job_undo_entries_key(job_id, entry)" },
    isOrdered: true,
    rowsMax: { job_undo_entries: 5 },
  },
  {
    name: "list_job_undo_entries",
    run: (db) => listJobUndoEntries(db, jobId, { afterEntry: 0, limit: 51 }),
    reads: { job_undo_entries: "job_undo_entries_key(job_id, entry)" },
    isOrdered: true,
    rowsMax: { job_undo_entries: 60 },
  },
  {
    name: "read_job_set_rows",
    run: (db) => readJobSetRows(db, { jobId, setId: "s" }, { fromOrdinal: 5_000, limit: 50, ...wholePage }),
    reads: { job_set_rows: "job_set_rows_key(job_id, set_id, ordinal)", job_rows: "job_rows_key(job_id, row_number)" },
    isOrdered: true,
    rowsMax: { job_set_rows: 50, job_rows: 50 },
  },
  {
    name: "read_job_set_rows_of_state",
    run: (db) =>
      readJobSetRows(db, { jobId, setId: "s", state: "failed" }, { fromOrdinal: 5_000, limit: 20, ...wholePage }),
    reads: {
      job_set_rows: "job_set_rows_state(job_id, set_id, state, ordinal)",
      job_rows: "job_rows_key(job_id, row_number)",
    },
    isOrdered: true,
    rowsMax: { job_set_rows: 20, job_rows: 20 },
  },
  {
    name: "read_job_set_rows_in",
    run: (db) =>
      readJobSetRows(db, { jobId, setId: "s", states: ["ok", "in"] }, { fromOrdinal: 5_000, limit: 50, ...wholePage }),
    reads: { job_set_rows: "job_set_rows_key(job_id, set_id, ordinal)", job_rows: "job_rows_key(job_id, row_number)" },
    isOrdered: true,
  },
  {
    name: "read_job_set_places",
    run: (db) => readJobSetPlaces(db, { jobId, setId: "s" }, { fromOrdinal: 5_000, limit: 50 }),
    reads: { job_set_rows: "job_set_rows_key(job_id, set_id, ordinal)" },
    isOrdered: true,
    rowsMax: { job_set_rows: 50 },
  },
  {
    name: "read_job_set_places_in",
    run: (db) => readJobSetPlaces(db, { jobId, setId: "s", states: ["ok", "in"] }, { fromOrdinal: 5_000, limit: 50 }),
    reads: { job_set_rows: "job_set_rows_key(job_id, set_id, ordinal)" },
    isOrdered: true,
  },
  {
    name: "read_job_row_blocks",
    run: (db) => readJobRowBlocks(db, jobId, { firsts: [50, 700], lasts: [60, 710], bytesMax: 1_000_000 }),
    reads: { job_rows: ["job_rows_key(job_id, row_number)"] },
    rowsMax: { job_rows: 60 },
  },
  {
    name: "set_job_row_states",
    run: (db) => setJobRowStates(db, { jobId, setId: "s" }, { from: "failed", to: "skipped" }),
    reads: {
      job_set_rows: ["job_set_rows_key(job_id, set_id)", "job_set_rows_state(job_id, set_id, state)"],
    },
  },
  {
    name: "clear_job_sets",
    run: (db) => clearJobSets(db, jobId, ["t"]),
    reads: { job_set_rows: "job_set_rows_key(job_id, set_id)" },
  },
  {
    name: "find_unswept_jobs",
    run: (db) => sweepJobRows(db, seededAt(9_600), 1_000),
    reads: { jobs: ["jobs_unswept(finished_at)", "jobs_pkey(id)"] },
    isOrdered: true,
  },
  {
    name: "sweep_job_set_rows",
    run: (db) => sweepJobRows(db, seededAt(9_600), 1_000),
    reads: { job_set_rows: ["ctid", "job_set_rows_key(job_id)", "job_set_rows_state(job_id)"] },
  },
  {
    name: "sweep_job_rows",
    run: (db) => sweepJobRows(db, seededAt(9_600), 1_000),
    reads: { job_rows: ["ctid", "job_rows_key(job_id)"] },
  },
  {
    name: "finish_job_sweep",
    run: (db) => sweepJobRows(db, seededAt(9_600), 1_000),
    reads: {
      jobs: "jobs_pkey(id)",
      job_steps: "job_steps_key(job_id)",
      job_undo_entries: "job_undo_entries_key(job_id)",
    },
  },
  {
    name: "lock_ended_jobs",
    run: (db) => sweepEndedJobs(db, endedBatch),
    reads: {
      jobs: ["jobs_pkey(id)", "jobs_simulated_from(simulated_from)"],
      job_tasks: "job_tasks_key(job_id)",
    },
    isOrdered: true,
    // One of forty has no task.
    rowsMax: { jobs: 2_000, job_tasks: 2_000 },
  },
  {
    name: "delete_ended_jobs",
    run: (db) => sweepEndedJobs(db, endedBatch),
    reads: {
      jobs: "jobs_pkey(id)",
      job_attempts: "job_attempts_key(job_id)",
      job_steps: "job_steps_key(job_id)",
      job_events: "job_events_key(job_id)",
      job_asks: "job_asks_job(job_id)",
    },
  },
  {
    name: "the job of an idempotency key",
    run: (db) => findKeyedJob(db, projectId, "k6"),
    reads: { jobs: "jobs_idempotency_key(project_id, idempotency_key)" },
  },
  {
    name: "list_jobs",
    run: (db) => jobsForProject(db, projectId).list(everyJob, page),
    reads: { jobs: listedBy, job_programs: "job_programs_key(project_id, digest)" },
    // A page for each of two statuses, and the page itself.
    rowsMax: { jobs: 4 * 51, job_programs: 51 },
  },
  {
    name: "list_jobs",
    variant: "of a status",
    run: (db) => jobsForProject(db, projectId).list({ ...everyJob, statuses: ["running"] }, page),
    reads: { jobs: listedBy, job_programs: "job_programs_key(project_id, digest)" },
    rowsMax: { jobs: 3 * 51, job_programs: 51 },
  },
  {
    name: "list_jobs",
    variant: "of simulations",
    run: (db) => jobsForProject(db, projectId).list({ ...everyJob, mode: "simulate" }, page),
    reads: { jobs: listedBy, job_programs: "job_programs_key(project_id, digest)" },
    rowsMax: { jobs: 4 * 51, job_programs: 51 },
  },
  {
    name: "list_jobs_of_standing_program",
    run: (db) => jobsForProject(db, projectId).list({ ...everyJob, standingProgramId: seededId("stp", 1) }, page),
    reads: {
      jobs: ["jobs_standing(project_id, standing_program_id, mode, status, id)", "jobs_pkey(id)"],
      job_programs: "job_programs_key(project_id, digest)",
    },
  },
  {
    name: "list_jobs_of_skill",
    run: (db) => jobsForProject(db, projectId).list({ ...everyJob, skillSlug: "clean_up" }, page),
    reads: {
      jobs: ["jobs_skill(project_id, skill_slug, mode, status, id)", "jobs_pkey(id)"],
      job_programs: "job_programs_key(project_id, digest)",
    },
    rowsMax: { jobs: 4 * 51 },
  },
  {
    name: "list_jobs_of_parent",
    run: (db) => jobsForProject(db, projectId).list({ ...everyJob, parentJobId: jobId }, page),
    reads: {
      jobs: ["jobs_children(status, project_id, parent_job_id, id)", "jobs_pkey(id)"],
      job_programs: "job_programs_key(project_id, digest)",
    },
    rowsMax: { jobs: 4 * 51 },
  },
  {
    name: "read_child_jobs",
    run: (db) => readChildJobs(db, [seededId("job", 9), seededId("job", 49)]),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "lock_child_jobs",
    run: (db) => lockChildJobs(db, [seededId("job", 9), seededId("job", 49)]),
    reads: { jobs: "jobs_pkey(id)" },
  },
  {
    name: "list_rehearsals",
    run: (db) => jobsForProject(db, projectId).list({ ...everyJob, mode: "rehearse" }, page),
    reads: {
      jobs: ["jobs_rehearsals(project_id, status, id)", "jobs_pkey(id)"],
      job_programs: "job_programs_key(project_id, digest)",
    },
    rowsMax: { jobs: 4 * 51 },
  },
  {
    name: "find_listed_twin",
    run: (db) => jobsForProject(db, projectId).findTwin(seededId("job", 239)),
    reads: {
      jobs: "jobs_simulated_from(simulated_from)",
      job_programs: "job_programs_key(project_id, digest)",
    },
  },
  {
    name: "list_job_steps",
    run: (db) => jobsForProject(db, projectId).listSteps(leases.map((one) => one.jobId)),
    reads: { jobs: "jobs_pkey(id)", job_steps: "job_steps_key(job_id)" },
  },
  {
    name: "read_job_log",
    run: (db) => jobsForProject(db, projectId).listEvents(jobId, { afterSeq: 4_000, limit: 100 }),
    reads: {
      jobs: "jobs_pkey(id)",
      job_events: "job_events_key(job_id, seq)",
      job_programs: "job_programs_key(project_id, digest)",
    },
    isOrdered: true,
  },
  {
    name: "find_skill",
    run: (db) => skillsForProject(db, projectId).find({ slug: "skill_1", version: 0 }),
    reads: { skills: "skills_key(project_id, slug)", job_programs: "job_programs_key(project_id, digest)" },
  },
  {
    name: "list_skills",
    run: (db) => skillsForProject(db, projectId).list(),
    reads: { skills: "skills_key(project_id)", job_programs: "job_programs_key(project_id, digest)" },
  },
  {
    name: "list_skill_versions",
    run: (db) => skillsForProject(db, projectId).listVersions("skill_1"),
    reads: { skills: "skills_key(project_id, slug)", job_programs: "job_programs_key(project_id, digest)" },
  },
];

/** The work that is due. */
export const taskPlans: readonly Plan[] = [
  {
    name: "claim_job_tasks",
    run: (db) =>
      claimJobTasks(db, {
        owner,
        nowMs,
        leaseUntilMs: nowMs + 30_000,
        limit: 10,
        share: 5,
        fullProjects: new Set([seededId("prj", 7)]),
      }),
    reads: { job_tasks: ["job_tasks_due(due_at)", taskKey] },
    rowsMax: { job_tasks: 500 },
  },
  {
    name: "renew_job_leases",
    run: (db) => renewJobLeases(db, leases, nowMs),
    reads: { job_tasks: taskKey, jobs: "jobs_pkey(id)" },
  },
  { name: "release_job_leases", run: (db) => releaseJobTasks(db, leases, nowMs), reads: { job_tasks: taskKey } },
  {
    name: "release_job_lease",
    run: (db) => releaseJobTasks(db, [{ ...lease, leaseToken: 999 }], nowMs),
    reads: { job_tasks: taskKey },
  },
  { name: "hold_job_task", run: (db) => holdJobTask(db, lease), reads: { job_tasks: taskKey } },
  { name: "end_job_task", run: (db) => endJobTask(db, lease), reads: { job_tasks: taskKey } },
  { name: "move_job_task", run: (db) => moveJobTask(db, lease, nowMs), reads: { job_tasks: taskKey } },
  { name: "put_job_tasks", run: (db) => putJobTasks(db, [task]), reads: {} },
  { name: "take_run_task", run: (db) => takeRunTask(db, { jobId, projectId, dueAt: nowMs }), reads: {} },
  {
    name: "delete_job_tasks",
    run: (db) => deleteJobTasks(db, { jobId, kinds: ["hop", "reach"], subject: "ask" }),
    reads: { job_tasks: ["job_tasks_key(job_id, kind)", taskKey] },
  },
];
