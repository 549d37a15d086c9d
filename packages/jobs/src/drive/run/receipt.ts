import type { AskView } from "@svc/asks";
import type { CallCounts, RowCounts } from "@svc/db/documents/calls";
import type { LimitsDocument, ReceiptDocument } from "@svc/db/documents/jobs";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import type { Limits } from "@svc/program";
import { noRows, sumCalls } from "../../state/counts.ts";
import type { JobState } from "../../state/job.ts";
import type { Port } from "../port.ts";

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

/** The sum of counts of rows. */
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
