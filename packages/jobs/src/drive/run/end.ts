import type { AskView } from "@svc/asks";
import { holdsMoreThan } from "@svc/core";
import type { CallCounts, RowCounts } from "@svc/db/documents/calls";
import type { LimitsDocument, ReceiptDocument } from "@svc/db/documents/jobs";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import { type Limits, type ResolveFault, resolveResult } from "@svc/program";
import { redactTexts } from "@svc/tools";
import { apply, type WorkingJob } from "../../state/apply.ts";
import type { Change, Edit, Next } from "../../state/change.ts";
import { noRows, sumCalls } from "../../state/counts.ts";
import { endCodeOf } from "../../state/end-codes.ts";
import { stepOf } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import { shownOf } from "../../state/shown.ts";
import { argumentBounds, withComputed } from "../../steps/arguments.ts";
import type { LockedJob, Port } from "../port.ts";

const resultBytesMax = 16_384;

type NextOf<Kind extends Next["kind"]> = Extract<Next, { kind: Kind }>;

/**
 * Returns the change that fails a step because it would exceed a limit of the job, such as the number of calls. The change also adds a log
 * entry.
 */
export function limitOf(state: JobState, { stepId, limit }: NextOf<"limit">): Change {
  const max = state.loaded.program.limits[limit];
  const message = `the job's limit of ${max} ${limit} is reached`;
  return {
    edits: [{ kind: "note", note: { type: "limit-reached", stepId, payload: { limit, max } } }],
    next: { kind: "fail", stepId, code: "LIMIT_REACHED", message },
  };
}

/**
 * Returns the change that ends a job. The program may declare that its calls are to be undone for this cause of the end. If there are such
 * calls, the change begins to undo them, and the job ends later.
 */
export function endOf(state: JobState, { cause, chain }: NextOf<"end">): Change {
  const undoes = state.loaded.program.sagaOn.includes(cause) && state.saga.entries > 0 && !state.isSimulated;
  if (!undoes) return { edits: [], next: { kind: "finish", status: cause, reason: cause, chain } };
  return {
    edits: [
      ...closeOpenSteps(state, cause),
      { kind: "move", to: "compensating", reason: cause, chain },
      { kind: "saga", saga: { state: "compensating", cause } },
      { kind: "deadline", clock: "stops" },
      { kind: "undo", undo: { stepId: "" } },
    ],
    next: { kind: "undo", chain },
  };
}

/**
 * Ends a job for good. One commit stores the status, the receipt (report of the job) and the log, and ends the job's task and pending
 * question to a person.
 */
export async function finish(work: WorkingJob, { status, reason, chain }: NextOf<"finish">, port: Port): Promise<void> {
  const { state } = work;
  const { saga, used, plan, planApprovalId, simulatedFrom } = state;
  const closed = apply(
    work,
    [
      ...closeOpenSteps(state, status),
      { kind: "deadline", clock: "stops" },
      ...(saga.state === "compensating" ? [{ kind: "saga", saga: { state: "compensated" } } as const] : []),
      ...(simulatedFrom === null ? [] : [{ kind: "wakeJob", jobId: simulatedFrom } as const]),
    ],
    port.clock.now(),
  );
  // The result of the job is computed before the job's row is locked, because the computation may be slow. All values that the result
  // refers to already exist at this point.
  const hasRun = status === "succeeded" && !state.isRehearsal;
  const result = hasRun ? await resultOf(closed.state, port) : { text: "" };
  const end: readonly Edit[] = [
    { kind: "move", to: status, reason, chain },
    { kind: "end" },
    // If the result cannot be computed, the job's last error says why.
    ...("fault" in result ? [{ kind: "lastError", message: result.fault } as const] : []),
  ];
  const resultJson = "text" in result ? result.text : "";
  // Only a job that has asked a question can have a pending ask that must be withdrawn. Other jobs can end without a lock.
  const hasAsked = used.asks > 0 || plan?.askId !== undefined || planApprovalId !== "" || saga.state === "stuck";
  if (hasAsked) return port.locked((job) => finishLocked(closed, { end, chain, resultJson }, { job, port }));
  const ended = apply(closed, end, port.clock.now());
  // The receipt contains the number of the last log entry. If no other writer has added an entry since the job was read, this number is
  // right, and one statement can end the job.
  const lastSeq = state.lastSeq + ended.pending.events.length;
  const receipt = receiptOf(ended.state, { resultJson, lastSeq, asks: [] }, port);
  if (!(await port.commitUnlessLogged(ended, { task: "end", receipt }))) {
    const rest = { end: [], chain: undefined, resultJson };
    await port.locked((job) => finishLocked(ended, rest, { job, port }));
  }
}

type JobEnd = {
  readonly end: readonly Edit[];
  readonly chain: readonly string[] | undefined;
  readonly resultJson: string;
};
type UnderLock = { readonly job: LockedJob; readonly port: Port };

/**
 * Ends the job while its row is locked. If `chain` (the principals that caused the end) is given, the pending question of the job is first
 * withdrawn.
 */
async function finishLocked(
  work: WorkingJob,
  { end, chain, resultJson }: JobEnd,
  { job, port }: UnderLock,
): Promise<void> {
  const { events, asks } = await job.closeAsks(chain);
  const withdrawn: Edit[] = chain === undefined ? [] : [{ kind: "withdrawn", events }];
  const ended = apply(work, [...withdrawn, ...end], port.clock.now());
  const lastSeq = job.lastSeq + ended.pending.events.length;
  const receipt = receiptOf(ended.state, { resultJson, lastSeq, asks }, port);
  await job.commit(ended, { task: "end", receipt });
}

/** Returns the changes that mark the steps which were running at the end of their job as failed. */
function closeOpenSteps({ steps, loaded }: JobState, cause: string): Edit[] {
  const open = [...steps].filter(([, { receipt }]) => receipt.state === "");
  if (open.length === 0) return [];
  const code = endCodeOf(cause);
  return open.flatMap(([stepId]) => {
    if (cause === "succeeded") throw new Error(`step ${stepId} is at work at the job's end`);
    const { index } = stepOf(loaded.flow, stepId);
    return [
      { kind: "error", stepId, code, ordinal: 0, message: "the job ended before the step did" } as const,
      { kind: "finish", stepId, state: "failed", to: index, isCut: true } as const,
    ];
  });
}

/**
 * Returns the declared result of a successful job as JSON text, or an empty text if the program declares no result. A missing value becomes
 * null. A sensitive value becomes `***`. Expressions of the result also get `***` instead of sensitive values.
 */
async function resultOf(
  state: JobState,
  { compute, clock }: Pick<Port, "compute" | "clock">,
): Promise<{ readonly text: string } | { readonly fault: string }> {
  const { result } = state.loaded.program;
  if (result.length === 0) return { text: "" };
  // If the job has no sensitive values, nothing must be masked, and its state is used directly.
  const shown = state.loaded.hasSensitive ? shownOf(state) : undefined;
  const { scope } = shown ?? state;
  const templates = result.map(([, template]) => template);
  const ready = await withComputed(templates, { ...scope, now: clock.now() }, { compute });
  const resolved = "fault" in ready ? ready : resolveResult(result, ready.value);
  if ("fault" in resolved) return { fault: faultOfResult(resolved.fault) };
  // A value with very many long texts is too large to be written as JSON.
  const isHuge = holdsMoreThan(resolved.value, argumentBounds);
  const text = isHuge
    ? undefined
    : JSON.stringify(shown === undefined ? resolved.value : redactTexts(resolved.value, shown.redact));
  if (text !== undefined && Buffer.byteLength(text) <= resultBytesMax) return { text };
  return { fault: `RESULT_TOO_LARGE: the result has more than ${resultBytesMax} bytes` };
}

/**
 * Returns the error message for a result that cannot be computed. It names the place in the result, so that people do not look for the
 * error in a step.
 */
function faultOfResult({ code, message, pointer }: ResolveFault): string {
  return `${code}: ${message.endsWith(pointer) ? message : `${message}, at ${pointer}`}`;
}

/**
 * The parts of a job's receipt (its stored summary) that are not in the job's state. `lastSeq`: number of the log entry that ends the job.
 * `asks`: the job's questions to people.
 */
type ReceiptParts = { readonly lastSeq: number; readonly asks: readonly AskView[]; readonly resultJson: string };

/** Returns the receipt (final report) of a job that is about to end. The receipt is stored with the next commit, which ends the job. */
function receiptOf(
  state: JobState,
  { lastSeq, asks, resultJson }: ReceiptParts,
  { hashReceipt }: Pick<Port, "hashReceipt">,
): ReceiptDocument {
  const steps = [...state.steps.values()].map(({ receipt }) => receipt);
  const calls = sumCalls(steps.flatMap((step) => step.calls ?? []));
  // The total number of rows is the number of fetched rows. How many of them succeeded or failed is the sum over the map steps.
  const ended = sumRows(steps.flatMap((step) => (step.kind === "map" && step.rows) || []));
  const rows = { ...ended, in: state.used.rows };
  const count = (asked: AskView["state"]) => asks.filter((ask) => ask.state === asked).length;
  const { entries, done, failed } = state.saga;
  const receipt: ReceiptDocument = {
    outcome: outcomeOf(state, steps, calls),
    programHash: state.loaded.programHash,
    rows,
    calls,
    limits: {
      used: usedLimits(state, steps, calls),
      max: limitsDocument(state.loaded.program.limits),
    },
    asks: {
      raised: asks.length,
      answered: count("answered"),
      defaulted: count("defaulted"),
      withdrawn: count("withdrawn"),
      refusedAnswers: asks.reduce((sum, { refusedAnswers }) => sum + refusedAnswers, 0),
    },
    approvals: asks
      .filter(({ approvalId }) => approvalId !== "")
      .map(({ approvalId, stepId, decision }) => ({ approvalId, stepId, ...(decision && { decision }) })),
    estimate: state.estimate,
    actual: {
      calls: calls.read + calls.write + calls.destructive,
      writes: calls.write + calls.destructive,
      destructive: calls.destructive,
      rows: rows.in,
      asks: state.used.asks,
    },
    saga: { state: state.saga.state, entries, done, failed },
    resultJson,
    lastSeq,
    receiptHash: "",
  };
  return { ...receipt, receiptHash: hashReceipt(receipt) };
}

function outcomeOf(
  { status, isRehearsal }: JobState,
  steps: readonly StepReceiptDocument[],
  { read, write, destructive }: CallCounts,
): ReceiptDocument["outcome"] {
  if (isRehearsal) return "none";
  if (status !== "succeeded") return read + write + destructive > 0 ? "partial" : "none";
  const isPartial = steps.some(({ state, rows }) => {
    return state === "partial" || state === "failed" || (rows !== undefined && rows.failed + rows.unknown > 0);
  });
  return isPartial ? "partial" : "complete";
}

function usedLimits(
  { deadline, used, loaded }: JobState,
  steps: readonly StepReceiptDocument[],
  { read, write, destructive }: CallCounts,
): LimitsDocument {
  const { deadlineMs, concurrency } = loaded.program.limits;
  const leftMs = "leftMs" in deadline ? deadline.leftMs : deadlineMs;
  const hasMap = steps.some(({ kind }) => kind === "map");
  const hasCalls = read + write + destructive > 0;
  return {
    deadlineSeconds: Math.round(Math.max(0, deadlineMs - leftMs) / 1000),
    ...used,
    concurrency: hasMap ? concurrency : hasCalls ? 1 : 0,
  };
}

function limitsDocument({ deadlineMs, ...limits }: Limits): LimitsDocument {
  return { deadlineSeconds: Math.round(deadlineMs / 1000), ...limits };
}

/** Returns the sum of the row counts of several steps, for each outcome of a row (such as `ok` and `failed`). */
function sumRows(counts: readonly RowCounts[]): RowCounts {
  const sum = { ...noRows };
  for (const { in: taken, ok, failed, skipped, unknown } of counts) {
    sum.in += taken;
    sum.ok += ok;
    sum.failed += failed;
    sum.skipped += skipped;
    sum.unknown += unknown;
  }
  return sum;
}
