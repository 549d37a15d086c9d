import type { Edit, LogNote } from "./change.ts";
import { type Editors, entryOf, type JobDraft, note, toldText } from "./draft.ts";
import type { JobState } from "./job.ts";
import { endStatuses, type JobStatus, movesOf, transitions } from "./statuses.ts";

/** Change the status of a job, its clock, its usage, its log and its questions. */
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
  | "stepArgs"
  | "lastError"
  | "note"
  | "logProgress"
  | "logUndo"
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
  stepArgs: ({ job }, { stepId, args }) => {
    job.stepArgs = { ...job.stepArgs, [stepId]: { ...job.stepArgs[stepId], ...args } };
  },
  lastError: ({ job }, { message }) => {
    job.lastError = toldText(job, message);
  },
  note: (draft, { note: entry }) => note(draft, entry),
  logProgress,
  logUndo: (draft, { note: entry, isAlways }) => {
    if (isAlways || mayLogProgress(draft)) noteProgress(draft, entry);
  },
  asked: putQuestion,
  withdrawn: ({ pending }, { events }) => {
    pending.events.push(...events);
  },
  wakeJob: (draft, { jobId }) => wake(draft, jobId),
  end: endJob,
};

function moveJob(draft: JobDraft, { to, reason, chain }: Extract<Edit, { kind: "move" }>): void {
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

function wakeParent(draft: JobDraft): void {
  const { parent } = draft.job;
  if (parent !== null) wake(draft, parent.jobId);
}

/** Makes the task that runs a job due with the next commit. Does nothing if the next commit already contains this. */
function wake({ job: { projectId }, pending: { tasks }, nowMs }: JobDraft, jobId: JobState["id"]): void {
  const isWoken = tasks.some((task) => task.jobId === jobId && task.kind === "run");
  if (!isWoken) tasks.push({ jobId, kind: "run", subject: "", projectId, dueAt: nowMs });
}

/** Stops, starts or resets the clock of the job's deadline. The clock is stopped while a job waits for a person and while it is paused. */
function turnClock({ job, nowMs }: JobDraft, { clock, sinceMs = nowMs }: Extract<Edit, { kind: "deadline" }>): void {
  const { deadline } = job;
  if (clock === "begins") job.deadline = { leftMs: job.loaded.program.limits.deadlineMs };
  if (clock === "stops" && "atMs" in deadline) job.deadline = { leftMs: Math.max(0, deadline.atMs - sinceMs) };
  if (clock === "runs" && "leftMs" in deadline) job.deadline = { atMs: nowMs + deadline.leftMs };
}

const progressPauseMs = 5_000;

function logProgress(draft: JobDraft, { stepId, counts = {} }: Extract<Edit, { kind: "logProgress" }>): void {
  if (!mayLogProgress(draft)) return;
  const { rows } = entryOf(draft.job, stepId).receipt;
  noteProgress(draft, { type: "step-progress", stepId, payload: { ...counts, ...(rows && { rows }) } });
}

function mayLogProgress({ job, nowMs }: JobDraft): boolean {
  return nowMs - job.progressLoggedAt >= progressPauseMs;
}

function noteProgress(draft: JobDraft, entry: LogNote): void {
  draft.job.progressLoggedAt = draft.nowMs;
  note(draft, entry);
}

function putQuestion({ job, pending }: JobDraft, { prepared, isOfPlan }: Extract<Edit, { kind: "asked" }>): void {
  pending.events.push(...prepared.events);
  pending.tasks.push(...prepared.tasks);
  pending.asks.push(prepared);
  if (isOfPlan) job.planApprovalId = prepared.approvalId;
}

/**
 * Applies the end of the job to its state. No question, undo action or running block (step that contains steps) is left. The job's position
 * is kept, so that a new attempt can continue from it.
 */
function endJob({ job, nowMs }: JobDraft): void {
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
