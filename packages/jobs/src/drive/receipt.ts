import type { AskView } from "@svc/asks";
import { holdsMoreThan } from "@svc/core";
import type { CallCounts } from "@svc/db/documents/counts";
import type { LimitsDocument, ReceiptDocument } from "@svc/db/documents/receipt";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import { type Limits, type ResolveFault, resolveResult } from "@svc/program";
import { redactTexts } from "@svc/tools";
import { sumCalls, sumRows } from "../state/counts.ts";
import type { JobState } from "../state/job.ts";
import { shownOf } from "../state/shown.ts";
import { argumentBounds, withComputed } from "../steps/arguments.ts";
import type { Port } from "./port.ts";

const resultBytesMax = 16_384;

/** What a receipt tells beside the job's state. `lastSeq`: of the log entry that ends the job. */
type ReceiptParts = { readonly lastSeq: number; readonly asks: readonly AskView[]; readonly resultJson: string };

/** The account of a job that ends with the pending commit. */
export function receiptOf(
  state: JobState,
  { lastSeq, asks, resultJson }: ReceiptParts,
  { hashReceipt }: Pick<Port, "hashReceipt">,
): ReceiptDocument {
  const steps = [...state.steps.values()].map(({ receipt }) => receipt);
  const calls = sumCalls(steps.flatMap((step) => step.calls ?? []));
  // Rows taken are those that were fetched; how they ended is what the maps made of them.
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

/**
 * The declared result of a job that succeeded, as JSON text; what has no value is null in it, and what
 * is sensitive is `***`, for its expressions too. Empty when none is declared.
 */
export async function resultOf(
  state: JobState,
  { compute, clock }: Pick<Port, "compute" | "clock">,
): Promise<{ readonly text: string } | { readonly fault: string }> {
  const { result } = state.loaded.program;
  if (result.length === 0) return { text: "" };
  // Where nothing is sensitive the job is shown as it is.
  const shown = state.loaded.hasSensitive ? shownOf(state) : undefined;
  const { scope } = shown ?? state;
  const templates = result.map(([, template]) => template);
  const ready = await withComputed(templates, { ...scope, now: clock.now() }, { compute });
  const resolved = "fault" in ready ? ready : resolveResult(result, ready.value);
  if ("fault" in resolved) return { fault: faultOfResult(resolved.fault) };
  // A great many long texts have no JSON text at all.
  const isHuge = holdsMoreThan(resolved.value, argumentBounds);
  const text = isHuge
    ? undefined
    : JSON.stringify(shown === undefined ? resolved.value : redactTexts(resolved.value, shown.redact));
  if (text !== undefined && Buffer.byteLength(text) <= resultBytesMax) return { text };
  return { fault: `RESULT_TOO_LARGE: the result has more than ${resultBytesMax} bytes` };
}

/** Its place says that it is the result which is at fault, and no step. What is computed names it already. */
function faultOfResult({ code, message, pointer }: ResolveFault): string {
  return `${code}: ${message.endsWith(pointer) ? message : `${message}, at ${pointer}`}`;
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
