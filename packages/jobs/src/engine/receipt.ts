import type { AskView } from "../asks/types.ts";
import type { Limits } from "../program/program.ts";
import { resolveResult } from "../program/resolve.ts";
import {
  addCalls,
  addRows,
  type CallCounts,
  type LimitsDocument,
  noCalls,
  noRows,
  type ReceiptDocument,
  type RowCounts,
} from "./documents.ts";
import type { Run } from "./run.ts";

const resultBytesMax = 16_384;

/** The account of a job that ends with the pending commit. `lastSeq`: of the log entry that ends it. */
export function receiptOf(run: Run, { lastSeq, asks }: { lastSeq: number; asks: readonly AskView[] }): ReceiptDocument {
  const calls = sumCalls(run);
  const rows = sumRows(run);
  const count = (state: AskView["state"]) => asks.filter((ask) => ask.state === state).length;
  const receipt: ReceiptDocument = {
    outcome: outcomeOf(run, calls),
    programHash: run.loaded.programHash,
    rows,
    calls,
    limits: { used: usedLimits(run, calls), max: limitsDocument(run.program.limits) },
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
    estimate: run.job.estimate,
    actual: {
      calls: calls.read + calls.write + calls.destructive,
      writes: calls.write + calls.destructive,
      destructive: calls.destructive,
      rows: rows.in,
      asks: run.used.asks,
    },
    saga: sagaOf(run),
    resultJson: run.status === "succeeded" ? resultOf(run) : "",
    lastSeq,
    receiptHash: "",
  };
  return { ...receipt, receiptHash: run.context.hashReceipt(receipt) };
}

function sagaOf({ saga: { state, entries, done, failed } }: Run): ReceiptDocument["saga"] {
  return { state, entries, done, failed };
}

function sumCalls(run: Run): CallCounts {
  return [...run.steps.values()].reduce((sum, { receipt }) => addCalls(sum, receipt.calls ?? noCalls), noCalls);
}

/** Rows taken are those that were fetched; how they ended is what the maps made of them. */
function sumRows(run: Run): RowCounts {
  const ended = [...run.steps.values()]
    .filter(({ receipt }) => receipt.kind === "map")
    .reduce((sum, { receipt }) => addRows(sum, receipt.rows ?? noRows), noRows);
  return { ...ended, in: run.used.rows };
}

function outcomeOf(run: Run, calls: CallCounts): ReceiptDocument["outcome"] {
  const receipts = [...run.steps.values()].map(({ receipt }) => receipt);
  if (run.status === "succeeded") {
    const isPartial = receipts.some(({ state, rows }) => {
      return state === "partial" || state === "failed" || (rows !== undefined && rows.failed + rows.unknown > 0);
    });
    return isPartial ? "partial" : "complete";
  }
  return calls.read + calls.write + calls.destructive > 0 ? "partial" : "none";
}

function usedLimits(run: Run, calls: CallCounts): LimitsDocument {
  const { deadlineMs, concurrency } = run.program.limits;
  const leftMs = run.job.deadlineLeftMs ?? deadlineMs;
  const hasMap = [...run.steps.values()].some(({ receipt }) => receipt.kind === "map");
  const hasCalls = calls.read + calls.write + calls.destructive > 0;
  return {
    deadlineSeconds: Math.round(Math.max(0, deadlineMs - leftMs) / 1000),
    ...run.used,
    concurrency: hasMap ? concurrency : hasCalls ? 1 : 0,
  };
}

function limitsDocument({ deadlineMs, ...limits }: Limits): LimitsDocument {
  return { deadlineSeconds: Math.round(deadlineMs / 1000), ...limits };
}

/** The declared result; what has no value is null in it. Empty when none is declared, or when it cannot be given. */
function resultOf(run: Run): string {
  if (run.program.result.length === 0) return "";
  const resolved = resolveResult(run.program.result, run.values());
  if ("fault" in resolved) {
    run.job.lastError = `${resolved.fault.code}: ${resolved.fault.message}`;
    return "";
  }
  const text = JSON.stringify(resolved.value);
  if (Buffer.byteLength(text) <= resultBytesMax) return text;
  run.job.lastError = `RESULT_TOO_LARGE: the result has more than ${resultBytesMax} bytes`;
  return "";
}
