import type { StepReceipt } from "@svc/sdk";
import { numberText, spanText } from "../../text/plain.ts";
import type { ProgramStep, ShownProgram } from "../shown-program.ts";
import type { Pace } from "./rate.ts";

/** How the rows of a step stand, from a receipt or from an entry of the log. */
export type StepRows = Partial<Pick<NonNullable<StepReceipt["rows"]>, "in" | "ok" | "failed" | "skipped" | "unknown">>;

/** Rows of a step that are done, and how many there are to do, as far as that is known. */
export type Done = { readonly done: number; readonly total: number | undefined };

/** How far a step is. Rows that are still fetched have no known total. */
export function doneRows(
  program: ShownProgram,
  stepId: string,
  rowsOf: ReadonlyMap<string, StepRows>,
): Done | undefined {
  const step = program.steps.find(({ id }) => id === stepId);
  const rows = rowsOf.get(stepId);
  if (step === undefined || rows === undefined) return undefined;
  return { done: rows.in ?? 0, total: step.source === undefined ? undefined : setSize(program, step.source, rowsOf) };
}

/** How many rows a set holds: all that its step took, of a call and of a map; else those that it made or kept. */
function setSize(program: ShownProgram, setId: string, rowsOf: ReadonlyMap<string, StepRows>): number | undefined {
  const rows = rowsOf.get(setId);
  const kind = program.steps.find(({ id }) => id === setId)?.kind;
  return kind === "call" || kind === "map" ? rows?.in : rows?.ok;
}

/** Progress in words: `1,200 of 5,000 rows (24 %), 250 rows/s, 15 s left`. */
export function progressText({ done, total }: Done, pace: Pace | undefined): string {
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

/** What a step is, such as `map messaging_bot.send_message`. */
function stepText({ kind, toolSlug }: Pick<ProgramStep, "kind" | "toolSlug">): string {
  return toolSlug === "" ? kind : `${kind} ${toolSlug}`;
}

/** The same with the branch that it stands in, such as `call sales_crm.list_deals, in gather/sales`. */
export function placedText(step: Pick<ProgramStep, "kind" | "toolSlug" | "branch">): string {
  return step.branch === "" ? stepText(step) : `${stepText(step)}, in ${step.branch}`;
}
