import type { StepReceipt } from "@svc/sdk";
import { numberText, spanText } from "../../../text/plain.ts";
import type { ProgramStep, ShownProgram } from "../shown-program.ts";

/**
 * The speed of a step. `perSecond`: rows per second. `leftMs`: estimated time until the step ends, in milliseconds; undefined if it cannot
 * be estimated.
 */
export type Pace = { readonly perSecond: number; readonly leftMs: number | undefined };

/** Measures the speed of the current step in rows per second. */
export type PaceMeter = {
  /**
   * Records how many rows of a step were done at the time `atMs` (epoch milliseconds). Returns the step's speed; undefined if there are too
   * few samples. `total`: undefined while the step still fetches rows.
   */
  measure(sample: { stepId: string; atMs: number; done: number; total: number | undefined }): Pace | undefined;
};

/**
 * Maximum age in milliseconds of a measurement of a step's progress. Older measurements do not count for the speed that the command shows.
 */
const windowMs = 60_000;

/**
 * Returns a new meter of a step's rows per second. It starts its measurement again if a different step is measured, or if the same step
 * starts again.
 */
export function createPaceMeter(): PaceMeter {
  let stepId = "";
  let samples: { readonly atMs: number; readonly done: number }[] = [];
  return {
    measure(sample) {
      const last = samples.at(-1);
      if (sample.stepId !== stepId || (last !== undefined && sample.done < last.done)) samples = [];
      stepId = sample.stepId;
      samples = samples.filter(({ atMs }) => atMs >= sample.atMs - windowMs);
      samples.push({ atMs: sample.atMs, done: sample.done });
      const [first = sample] = samples;
      const elapsedMs = sample.atMs - first.atMs;
      if (elapsedMs <= 0 || sample.done === first.done) return undefined;
      const perMs = (sample.done - first.done) / elapsedMs;
      const left = sample.total === undefined ? undefined : Math.max(0, sample.total - sample.done);
      return { perSecond: perMs * 1000, leftMs: left === undefined ? undefined : left / perMs };
    },
  };
}

/**
 * How many rows of a step were read, succeeded, failed, were skipped, or have an unknown result. The counts come from the job's receipt
 * (stored report) or from an entry of its log.
 */
export type StepRows = Partial<Pick<NonNullable<StepReceipt["rows"]>, "in" | "ok" | "failed" | "skipped" | "unknown">>;

/** The progress of a step in rows. `done`: rows that are done. `total`: all rows; undefined if not known. */
export type RowProgress = { readonly done: number; readonly total: number | undefined };

/** Returns the progress of a step. While the step still fetches rows, the total is undefined. */
export function doneRows(
  program: ShownProgram,
  stepId: string,
  rowsOf: ReadonlyMap<string, StepRows>,
): RowProgress | undefined {
  const step = program.steps.find(({ id }) => id === stepId);
  const rows = rowsOf.get(stepId);
  if (step === undefined || rows === undefined) return undefined;
  return { done: rows.in ?? 0, total: step.source === undefined ? undefined : setSize(program, step.source, rowsOf) };
}

/**
 * Returns the number of rows that the step with the id `setId` passes to later steps. For a `call` or a `map` step, counts all rows that
 * the step received. For other steps, counts only the rows that the step created or kept. Returns undefined if the number is unknown.
 */
function setSize(program: ShownProgram, setId: string, rowsOf: ReadonlyMap<string, StepRows>): number | undefined {
  const rows = rowsOf.get(setId);
  const kind = program.steps.find(({ id }) => id === setId)?.kind;
  return kind === "call" || kind === "map" ? rows?.in : rows?.ok;
}

/** Returns the progress of a step as text (for example `1,200 of 5,000 rows (24 %), 250 rows/s, 15 s left`). */
export function progressText({ done, total }: RowProgress, pace: Pace | undefined): string {
  const share = total === undefined || total === 0 ? "" : ` (${Math.floor((100 * done) / total)} %)`;
  const rows = total === undefined ? numberText(done) : `${numberText(done)} of ${numberText(total)}`;
  const parts = [`${rows} rows${share}`];
  if (pace !== undefined) parts.push(`${paceNumber(pace.perSecond)} rows/s`);
  if (pace?.leftMs !== undefined && done < (total ?? 0)) parts.push(`about ${spanText(pace.leftMs)} left`);
  return parts.join(", ");
}

function paceNumber(perSecond: number): string {
  return perSecond < 10 ? perSecond.toFixed(1) : numberText(Math.round(perSecond));
}

/** Returns the kind and the tool of a step (for example `map messaging_bot.send_message`). */
function stepText({ kind, toolSlug }: Pick<ProgramStep, "kind" | "toolSlug">): string {
  return toolSlug === "" ? kind : `${kind} ${toolSlug}`;
}

/**
 * Returns the kind and the tool of a step, and the branch that contains the step (for example `call sales_crm.list_deals, in
 * gather/sales`).
 */
export function placedText(step: Pick<ProgramStep, "kind" | "toolSlug" | "branch">): string {
  return step.branch === "" ? stepText(step) : `${stepText(step)}, in ${step.branch}`;
}
