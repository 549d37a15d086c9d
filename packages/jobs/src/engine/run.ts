import type { Id } from "@svc/core";
import {
  commitRun,
  type Executor,
  type JobRecord,
  type JobSetRowChange,
  type JobStepRecord,
  type JobUndoChange,
  type NewJobEvent,
  type NewJobRow,
  type NewJobTask,
  type NewJobUndoEntry,
  type RunChange,
} from "@svc/db";
import type { CallStep, JsonObject, JsonValue, Step } from "../program/program.ts";
import type { RunScope } from "../program/resolve.ts";
import type { EngineContext } from "./context.ts";
import type { ParkDocument, SagaDocument, StepReceiptDocument, StepState, Used } from "./documents.ts";
import { type Draft, emptyDraft } from "./draft.ts";
import type { FaultPoint } from "./fault-points.ts";
import type { LoadedProgram, PinnedTool } from "./programs.ts";
import type { Progress } from "./progress.ts";
import { type JobSeals, jobSeals } from "./seals.ts";
import { assertMove, type JobStatus, jobStatusOf } from "./states.ts";

/** The lease was lost: whatever this driver still holds of the job is old. */
export class LeaseLostError extends Error {
  override name = "LeaseLostError";
}

/** A step as the driver knows it. */
export type StepEntry = {
  ordinal: number;
  receipt: StepReceiptDocument;
  output: Buffer | null;
  value: JsonValue | undefined;
};

/** What becomes of the run task with a commit. */
export type TaskEnd = RunChange["task"];

const payloadBytesMax = 4_096;

/**
 * One job under one lease: what is known of it, and what is to be committed next. Its methods change both alike; `commit` writes
 * all of it together. After a LeaseLostError, or any other error, it is thrown away and the job is read anew.
 */
export class Run {
  readonly context: EngineContext;
  readonly job: JobRecord;
  readonly loaded: LoadedProgram;
  readonly seals: JobSeals;
  readonly steps = new Map<string, StepEntry>();
  readonly startedMs: number;
  progress: Progress | undefined;
  status: JobStatus;
  used: Used;
  saga: SagaDocument;
  /** Set from outside when the job is to be cancelled, as the next commit will find. */
  isCancelSeen: boolean;
  /** Set from outside when the node is to stop. */
  isStopping = false;
  /** Asked between two acts: whether others wait for this node. */
  hasOthersWaiting: () => boolean = () => false;
  /** When the last progress event of a step was logged. */
  progressLoggedAt = 0;
  /** Where it reads: the pool, or the transaction that an answer is settled in. */
  readonly db: Executor;
  readonly #leaseToken: number;
  #receipt: JobRecord["receipt"] | undefined;
  #draft = emptyDraft();

  constructor(
    context: EngineContext,
    leaseToken: number,
    parts: { job: JobRecord; steps: readonly JobStepRecord[]; loaded: LoadedProgram; db?: Executor },
  ) {
    this.context = context;
    this.db = parts.db ?? context.db;
    this.#leaseToken = leaseToken;
    this.job = { ...parts.job };
    this.loaded = parts.loaded;
    this.seals = jobSeals(context.sealer, parts.job.projectId, parts.job.id);
    this.startedMs = context.clock.now();
    this.status = jobStatusOf(parts.job.status);
    this.used = parts.job.used as Used;
    this.saga = parts.job.saga as SagaDocument;
    this.isCancelSeen = parts.job.cancelRequestedAt !== null;
    this.progress =
      parts.job.progress === null ? undefined : (this.seals.open("progress", parts.job.progress) as Progress);
    for (const { stepId, ordinal, receipt, output } of parts.steps) {
      const value = output === null ? undefined : this.seals.open(`steps/${stepId}`, output);
      this.steps.set(stepId, { ordinal, receipt: receipt as StepReceiptDocument, output, value });
    }
  }

  get program() {
    return this.loaded.program;
  }

  get isSimulated(): boolean {
    return this.job.mode === "simulate";
  }

  get now(): number {
    return this.context.clock.now();
  }

  /** Who causes what the program does by itself. */
  get chain(): string[] {
    return this.job.principalChain;
  }

  /** A tool as it was pinned. Throws when the pins lack it, which the checker rules out. */
  tool(slug: string): PinnedTool {
    const tool = this.loaded.tools.get(slug);
    if (tool === undefined) throw new Error(`the pins of a job lack ${slug}`);
    return tool;
  }

  /** What references may name now. */
  values(): RunScope & Required<Pick<RunScope, "steps" | "rows">> {
    const steps: Record<string, JsonValue> = {};
    const rows: Record<string, number> = {};
    for (const [id, { receipt, value }] of this.steps) {
      if (value !== undefined) steps[id] = value;
      const size = setSize(receipt);
      if (size !== undefined) rows[id] = size;
    }
    return { input: this.input(), params: this.job.params as JsonObject, steps, rows };
  }

  input(): JsonObject {
    if (this.job.input === null) return this.program.input;
    return this.seals.open("input", this.job.input) as JsonObject;
  }

  /** Whether no further act may begin now: the loop of the driver knows why. */
  mustPause(): boolean {
    return this.isStopping || this.isCancelSeen || this.isOverdue() || this.isSliceOver();
  }

  isOverdue(): boolean {
    return this.job.deadlineAt !== null && this.now >= this.job.deadlineAt;
  }

  isSliceOver(): boolean {
    return this.now - this.startedMs >= this.context.limits.sliceMs && this.hasOthersWaiting();
  }

  /** Logs an event with the next commit. Payloads carry no row data; one that is too long loses all but its type. */
  note(
    type: string,
    stepId: string,
    payload: Readonly<Record<string, unknown>> = {},
    chain: readonly string[] = this.chain,
  ): void {
    const text = JSON.stringify(payload);
    const isShort = Buffer.byteLength(text) <= payloadBytesMax;
    this.#draft.events.push({
      type,
      stepId,
      payload: isShort ? text : '{"truncated":true}',
      principalChain: [...chain],
    });
    this.#draft.isDirty = true;
  }

  noteAll(events: readonly NewJobEvent[]): void {
    this.#draft.events.push(...events);
    this.#draft.isDirty = true;
  }

  /** Moves the job to another status. Throws for a transition that is not in the table. */
  move(to: JobStatus, reason: string, chain: readonly string[] = this.chain): void {
    assertMove(this.status, to);
    this.note("job-status-changed", "", { from: this.status, to, reason }, chain);
    this.status = to;
    if (to !== "parked" && to !== "pending_plan_approval") this.job.park = null;
  }

  park(document: ParkDocument): void {
    this.job.park = document;
    this.#draft.isDirty = true;
  }

  setProgress(progress: Progress | undefined): void {
    this.progress = progress;
    this.#draft.isDirty = true;
  }

  setPosition(position: number): void {
    this.job.position = position;
    this.setProgress(undefined);
  }

  setReceipt(receipt: JobRecord["receipt"]): void {
    this.#receipt = receipt;
  }

  setParams(params: JsonObject): void {
    this.job.params = params;
    this.#draft.params = true;
  }

  setStepArgs(stepArgs: Readonly<Record<string, unknown>>): void {
    this.job.stepArgs = stepArgs;
    this.#draft.stepArgs = true;
  }

  /** Whether the step at hand was begun before: a commit said so. */
  hasBegun(stepId: string): boolean {
    return this.progress?.stepId === stepId;
  }

  /** Begins a step, or begins it again; its set and value are made anew. */
  begin(step: Step, call: CallStep | undefined): void {
    const known = this.steps.get(step.id);
    const tool = call && this.tool(call.tool);
    const receipt: StepReceiptDocument = {
      stepId: step.id,
      kind: step.kind,
      toolSlug: call?.tool ?? "",
      toolVersion: tool?.toolkit.version ?? "",
      state: "",
      attempts: (known?.receipt.attempts ?? 0) + 1,
      startedAt: known?.receipt.startedAt ?? this.now,
      ...(known?.receipt.calls && { calls: known.receipt.calls }),
      ...(known?.receipt.decision && { decision: known.receipt.decision }),
      ...(known?.receipt.undo && { undo: known.receipt.undo }),
      errors: [],
    };
    if (known !== undefined) this.#draft.clearedSets.push(step.id);
    this.steps.set(step.id, { ordinal: known?.ordinal ?? this.steps.size, receipt, output: null, value: undefined });
    this.#draft.steps.add(step.id);
    this.setProgress({ stepId: step.id });
    this.note("step-started", step.id, { kind: step.kind, attempt: receipt.attempts });
  }

  receiptOf(stepId: string): StepReceiptDocument {
    const entry = this.steps.get(stepId);
    if (entry === undefined) throw new Error(`step ${stepId} has not begun`);
    return entry.receipt;
  }

  /** Takes back what a step made, before it may run again: its value and its set. */
  forget(stepId: string): void {
    const entry = this.steps.get(stepId);
    if (entry === undefined) return;
    const { rows: _rows, ...receipt } = entry.receipt;
    entry.receipt = receipt;
    entry.value = undefined;
    entry.output = null;
    this.clearSet(stepId);
    this.#draft.steps.add(stepId);
  }

  /** Changes what the receipt of a step says. */
  patchReceipt(stepId: string, patch: Partial<StepReceiptDocument>): void {
    const entry = this.steps.get(stepId);
    if (entry === undefined) throw new Error(`step ${stepId} has not begun`);
    entry.receipt = { ...entry.receipt, ...patch };
    this.#draft.steps.add(stepId);
    this.#draft.isDirty = true;
  }

  /** Keeps the value of a step, what `steps.<id>` names. */
  keepValue(stepId: string, value: JsonValue): void {
    const entry = this.steps.get(stepId);
    if (entry === undefined) throw new Error(`step ${stepId} has not begun`);
    entry.value = value;
    entry.output = this.seals.seal(`steps/${stepId}`, value);
    this.#draft.steps.add(stepId);
  }

  /** Ends a step and goes to `next`. */
  finishStep(stepId: string, state: Exclude<StepState, "">, next: number): void {
    this.patchReceipt(stepId, { state, finishedAt: this.now });
    const { rows } = this.receiptOf(stepId);
    this.note("step-finished", stepId, { state, ...(rows && { rows }) });
    this.setPosition(next);
  }

  addRows(rows: readonly NewJobRow[], setRows: readonly JobSetRowChange[]): void {
    this.#draft.rows.push(...rows);
    this.#draft.setRows.push(...setRows);
    this.#draft.isDirty = true;
  }

  /** Empties a set with the next commit, before anything is put into it. */
  clearSet(setId: string): void {
    this.#draft.clearedSets.push(setId);
  }

  addUndo(entries: readonly NewJobUndoEntry[]): void {
    this.#draft.undoEntries.push(...entries);
  }

  changeUndo(change: JobUndoChange): void {
    this.#draft.undoChanges.push(change);
    this.#draft.isDirty = true;
  }

  addTasks(tasks: readonly NewJobTask[]): void {
    this.#draft.tasks.push(...tasks);
  }

  /** Writes more in the transaction of the next commit. */
  also(write: (tx: Executor) => Promise<void>): void {
    this.#draft.also.push(write);
    this.#draft.isDirty = true;
  }

  /** Events that the next commit logs. */
  get pendingEvents(): number {
    return this.#draft.events.length;
  }

  /** Commits what is pending, if anything is, and keeps the lease. */
  async flush(): Promise<void> {
    if (this.#draft.isDirty) await this.commit("keep");
  }

  /** Commits what is pending when rows are: whoever reads a set reads the store. */
  async flushRows(): Promise<void> {
    if (this.#draft.setRows.length > 0 || this.#draft.clearedSets.length > 0) await this.commit("keep");
  }

  /**
   * Commits what is pending. Throws LeaseLostError when the lease is another's. With `expectsSeq`, resolves to false, having
   * written nothing, when somebody else has logged meanwhile.
   */
  async commit(
    task: TaskEnd,
    { expectsSeq, db = this.db }: { expectsSeq?: boolean; db?: Executor } = {},
  ): Promise<boolean> {
    const { job, context } = this;
    const draft = this.#draft;
    const from = job.status;
    await this.faultPoint("before-commit");
    const committed = await commitRun(
      db,
      { jobId: job.id, owner: context.nodeId, leaseToken: this.#leaseToken },
      this.#changeOf(draft, task),
      {
        nowMs: this.now,
        seesCancel: job.cancelRequestedAt !== null,
        expectedSeq: expectsSeq === true ? job.lastSeq : undefined,
      },
    );
    if (committed === undefined) {
      if (expectsSeq === true) return false;
      context.observer.leaseLost(job.id);
      throw new LeaseLostError(`the lease of ${job.id} was lost`);
    }
    this.#draft = emptyDraft();
    job.status = this.status;
    job.lastSeq = committed.lastSeq;
    job.cancelRequestedAt = committed.cancelRequestedAt;
    job.cancelChain = committed.cancelChain;
    if (committed.cancelRequestedAt !== null) this.isCancelSeen = true;
    if (from !== job.status) context.observer.moved(job.id, from, job.status);
    if (draft.tasks.length > 0 || typeof task === "object") context.onDue();
    await this.faultPoint("after-commit");
    return true;
  }

  #changeOf(draft: Draft, task: TaskEnd): RunChange {
    const { job } = this;
    return {
      job: {
        ...job,
        status: this.status,
        progress: this.progress === undefined ? null : this.seals.seal("progress", this.progress),
        used: this.used,
        saga: this.saga,
        params: draft.params ? job.params : undefined,
        stepArgs: draft.stepArgs ? job.stepArgs : undefined,
        receipt: this.#receipt,
      } as RunChange["job"],
      events: draft.events,
      steps: [...draft.steps].map((stepId) => {
        const { ordinal, output } = this.steps.get(stepId) as StepEntry;
        return { stepId, ordinal, receipt: this.receiptOf(stepId), output };
      }),
      rows: draft.rows,
      setRows: draft.setRows,
      clearedSets: draft.clearedSets,
      undoEntries: draft.undoEntries,
      undoChanges: draft.undoChanges,
      task,
      tasks: draft.tasks,
      also: draft.also.length === 0 ? undefined : (tx) => inTurn(draft.also, tx),
    };
  }

  faultPoint(point: FaultPoint): Promise<void> | void {
    return this.context.onFaultPoint(point, { stepId: this.progress?.stepId ?? "" });
  }
}

async function inTurn(writes: readonly ((tx: Executor) => Promise<void>)[], tx: Executor): Promise<void> {
  for (const write of writes) await write(tx);
}

/** The size of a step's set; of a skipped step, 0; undefined for a step that makes none. */
function setSize({ kind, rows, state }: StepReceiptDocument): number | undefined {
  if (kind !== "call" && kind !== "filter" && kind !== "map") return undefined;
  if (rows === undefined) return state === "skipped" ? 0 : undefined;
  return kind === "filter" ? rows.ok : rows.in;
}

/** A job's own run task. */
export function runTaskOf(job: { id: Id<"job">; projectId: JobRecord["projectId"] }, dueAt: number): NewJobTask {
  return { jobId: job.id, kind: "run", subject: "", projectId: job.projectId, dueAt };
}
