import { branchOf, stepOf } from "../flow.ts";
import type { JobState } from "../job.ts";
import { endStatuses, type JobStatus, movesOf, transitions } from "../statuses.ts";
import { type Draft, type EditOf, type Editors, note, toldText } from "./draft.ts";

/** Edits of the job itself: its status, positions, limits and questions, and what its next commit also stores. */
export const jobEditors: Editors<
  | "called"
  | "plan"
  | "child"
  | "retryChild"
  | "move"
  | "park"
  | "deadline"
  | "use"
  | "recorded"
  | "params"
  | "fork"
  | "join"
  | "generation"
  | "lastError"
  | "note"
  | "asked"
  | "withdrawn"
  | "wakeJob"
  | "end"
> = {
  called: ({ pending }, { end }) => {
    pending.made.push(end);
  },
  plan: ({ job }, { plan }) => {
    job.plan = plan;
  },
  child: ({ pending }, { child }) => {
    pending.children.push(child);
  },
  retryChild: ({ pending }, { child }) => {
    pending.retried.push(child);
  },
  move: moveJob,
  park: ({ job }, { park }) => {
    job.park = park;
  },
  deadline: turnClock,
  use: ({ job }, { used }) => {
    const { toolCalls = 0, writes = 0, rows = 0, asks = 0 } = used;
    job.used = {
      toolCalls: job.used.toolCalls + toolCalls,
      writes: job.used.writes + writes,
      rows: job.used.rows + rows,
      asks: job.used.asks + asks,
    };
  },
  recorded: ({ pending }, { records }) => {
    for (const record of records) pending.records.push(record);
  },
  params: ({ job }, { params }) => {
    job.params = { ...job.params, ...params };
  },
  fork: ({ job }, { from, to }) => {
    const { generation } = job;
    job.positions = job.positions.flatMap((position) => {
      return position.index === from ? to.map((index) => ({ index, progress: undefined, generation })) : [position];
    });
  },
  join: ({ job }, { to }) => {
    job.positions = [{ index: to, progress: undefined }];
  },
  generation: ({ job }, { stepId }) => {
    job.generation += 1;
    if (job.positions.length === 1) return;
    const { generation } = job;
    const { flow } = job.loaded;
    const branch = stepId === undefined ? undefined : branchOf(flow, stepOf(flow, stepId).index)?.branch;
    job.positions = job.positions.map((position, at) => {
      return branch === undefined || at === branch ? { ...position, generation } : position;
    });
  },
  lastError: ({ job }, { message }) => {
    job.lastError = toldText(job, message);
  },
  note: (draft, { note: entry }) => note(draft, entry),
  asked: putQuestion,
  withdrawn: ({ pending }, { events }) => {
    pending.events.push(...events);
  },
  wakeJob: (draft, { jobId }) => wake(draft, jobId),
  end: endJob,
};

function moveJob(draft: Draft, { to, reason, chain }: EditOf<"move">): void {
  const { job } = draft;
  const mayBecome = movesOf[job.isRehearsal ? "rehearsal" : "job"][job.status];
  if (!mayBecome.includes(to)) throw new Error(`a job that is ${job.status} cannot become ${to}`);
  const payload = { from: job.status, to, reason };
  if (isWaitedFor(job.status, to)) wakeParent(draft);
  note(draft, { type: "job-status-changed", stepId: "", payload, ...(chain && { chain }) });
  job.status = to;
  if (to !== "parked" && to !== "pending_plan_approval") job.park = null;
}

/**
 * True if the parent of a child job must read the child again after this status change: it begins or ends a wait, or the child ends. False
 * for any other change.
 */
function isWaitedFor(from: JobStatus, to: JobStatus): boolean {
  return from === "parked" || to === "parked" || endStatuses.has(to);
}

function wakeParent(draft: Draft): void {
  const { parent } = draft.job;
  if (parent !== null) wake(draft, parent.jobId);
}

/** Makes a job due, so that a node runs it. The next commit stores this. Does nothing if that commit already makes the job due. */
function wake({ job: { projectId }, pending: { tasks }, nowMs }: Draft, jobId: JobState["id"]): void {
  const isWoken = tasks.some((task) => task.jobId === jobId && task.kind === "run");
  if (!isWoken) tasks.push({ jobId, kind: "run", subject: "", projectId, dueAt: nowMs });
}

/** Stops, starts or resets the clock of the job's deadline. The clock is stopped while a job waits for a person and while it is paused. */
function turnClock({ job, nowMs }: Draft, { clock, sinceMs = nowMs }: EditOf<"deadline">): void {
  const { deadline } = job;
  if (clock === "begins") job.deadline = { leftMs: job.loaded.program.limits.deadlineMs };
  if (clock === "stops" && "atMs" in deadline) job.deadline = { leftMs: Math.max(0, deadline.atMs - sinceMs) };
  if (clock === "runs" && "leftMs" in deadline) job.deadline = { atMs: nowMs + deadline.leftMs };
}

function putQuestion({ job, pending }: Draft, { prepared, isOfPlan }: EditOf<"asked">): void {
  pending.events.push(...prepared.events);
  pending.tasks.push(...prepared.tasks);
  pending.asks.push(prepared);
  if (isOfPlan) job.planApprovalId = prepared.approvalId;
}

/**
 * Applies the end of the job to its state. No question, undo action or running block (step that contains steps) is left. The job's position
 * is kept, so that a new attempt can continue from it.
 */
function endJob({ job, nowMs }: Draft): void {
  if (!endStatuses.has(job.status)) throw new Error(`a job that is ${job.status} has not ended`);
  job.finishedAt = nowMs;
  // The question about the job's plan is dropped, because a later attempt asks its own question. `changedBy` (the keys whose answers
  // changed the job) is kept.
  const { changedBy } = job.plan ?? {};
  job.plan = changedBy && { changedBy };
  job.undo = undefined;
  job.progressLoggedAt = 0;
  if (transitions[job.status].length > 0) return;
  job.positions = job.positions.map((position) => ({ ...position, progress: undefined }));
}
