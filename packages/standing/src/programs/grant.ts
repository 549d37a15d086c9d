import type { EstimateDocument } from "@svc/db/documents/estimate";
import type { StandingVersionRecord } from "@svc/db/standing/programs";
import type { CheckedDefinition } from "../definition/check.ts";
import type { Definition } from "../definition/definition.ts";
import { dailyMax } from "../schedule/daily.ts";

/** A version that people were asked about. What they approve is for all its runs, and for versions that do nothing else and no more. */
export type Approved = {
  readonly record: Pick<StandingVersionRecord, "planHash" | "estimate" | "approval">;
  readonly definition: Definition;
};

/** Whether what was approved of a version covers another definition. */
export function isCovered(approved: Approved, { definition, start, planHash }: CheckedDefinition): boolean {
  const { record } = approved;
  if (record.approval !== "granted" || record.planHash !== planHash) return false;
  return isNoLarger(start.estimate, record.estimate) && isDayNoLarger(definition, approved.definition);
}

const bounds = ["callsMax", "writesMax", "destructiveMax", "rowsMax", "asksMax"] as const;

function isNoLarger(estimate: EstimateDocument, approved: EstimateDocument): boolean {
  return bounds.every((name) => estimate[name] <= approved[name]);
}

/** What a definition allows on a day. */
function dayOf({ source, budget }: Definition): readonly number[] {
  const { runs = Infinity, toolCalls = Infinity, writes = Infinity } = budget ?? {};
  // How often something happens elsewhere is not known: that is bounded by the budget.
  const due = source.kind === "schedule" ? dailyMax(source.schedule) : Infinity;
  return [Math.min(runs, due), toolCalls, writes];
}

function isDayNoLarger(definition: Definition, approved: Definition): boolean {
  const most = dayOf(approved);
  return dayOf(definition).every((value, index) => value <= (most[index] ?? 0));
}
