import { Fault, type ProjectId, type StandingProgramId, type StandingRunId } from "@svc/core";
import type { DecisionBatch } from "../prepare/due.ts";

type Named = { readonly sourceKey: string; readonly programId: StandingProgramId };

/** Runs could not be started: the transaction that decided about them is undone. Its cause says why. */
export class StartsError extends Error {
  readonly runs: readonly Named[];

  constructor(runs: readonly Named[], cause: unknown) {
    super(`${runs.length} runs could not be started`, { cause });
    this.runs = runs;
  }
}

/** Runs that one transaction notes at most that they could not be started. */
const unstartedMax = 10;

/**
 * What to decide about in place of a batch whose starts failed: of those that wait one by one, until it is known which fail; these then
 * wait. Undefined where it is not known, or of no use.
 */
export function batchAfter(batch: DecisionBatch, error: unknown): DecisionBatch | undefined {
  if (!(error instanceof StartsError)) return undefined;
  const { tasks, polls, calls, arrivals, startsMax, unstarted = new Map() } = batch;
  // What is due by itself is refused by its task's or its arrival's attempts, and whoever calls is told.
  const isOther = calls.length + arrivals.length > 0 || tasks.some(({ kind }) => kind === "fire");
  if (isOther || new Set(error.runs.map(({ programId }) => programId)).size !== 1) return undefined;
  const isAdmit = polls.length === 0 && tasks.every(({ kind }) => kind === "admit");
  if (isAdmit && error.runs.length > 1) return startsMax === 1 ? undefined : { ...batch, startsMax: 1 };
  const names = error.runs.map(({ sourceKey }) => sourceKey);
  if (names.every((name) => unstarted.has(name))) return undefined;
  const noted = new Map([...unstarted, ...names.map((name) => [name, detailOf(error.cause)] as const)]);
  return { ...batch, unstarted: noted, ...(isAdmit && { startsMax: noted.size < unstartedMax ? 1 : 0 }) };
}

/** For people; what a driver says may carry data. */
function detailOf(cause: unknown): string {
  return cause instanceof Fault ? cause.message : "its job could not be made; the service's log says why";
}

/** Where the input of a run that a caller gave stands: no other place opens it. */
export function inputPlace(projectId: ProjectId, runId: StandingRunId): string {
  return `${projectId}/standing_runs/${runId}/input`;
}

/** A project is too near its bound for others to start its runs meanwhile: the batch is to be decided about again, alone. */
export class NearBoundError extends Error {}
