import { type BackfillId, createId, type Id, type JsonObject } from "@svc/core";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { NewStandingRun, StandingRunChange, StandingRunRecord } from "@svc/db/standing/runs";
import type { TemplateValues } from "../definition/definition.ts";
import type { LoadedVersion } from "../versions.ts";
import { givenOf } from "./given.ts";
import type { CollectedEvent } from "./windows.ts";

/** A cause of a run: a time of a schedule, an event, rows of a poll, or a call. */
export type Occurrence = Pick<
  NewStandingRun,
  "kind" | "sourceKey" | "fireAt" | "missed" | "previousAt" | "callerKeyId"
> & {
  /** The input that the caller gave for the run. Undefined if the input comes from the definition of the standing program (a schedule). */
  readonly input: JsonObject | undefined;
  /** Number of new rows that start this run. Set only if the cause of the run is a poll. */
  readonly rowCount?: number | undefined;
  /**
   * Values of this occurrence for the templates of the definition, by name, such as `event` or `rows`. They are added to the values that
   * every run has, such as `fire`.
   */
  readonly given?: JsonObject | undefined;
  /** The event that is to start a run. Undefined if a time or a polled row is to start it. */
  readonly event?: CollectedEvent | undefined;
  /** The backfill to which the occurrence (due time or event of a schedule) belongs, if any. */
  readonly backfillId?: BackfillId | null | undefined;
};

/**
 * The result of the condition `when` for an occurrence (due time or event of a schedule). `error`: the reason why evaluating the condition
 * failed, or why svc could not decide about the occurrence.
 */
export type WhenResult =
  | { readonly isDue: boolean }
  | { readonly error: string; readonly reason: "filter_error" | "start_failed" };

/**
 * A due time or event for which a run may start. It was read and evaluated before its program was locked, so that the lock is held only for
 * a short time.
 */
export type DueCandidate = {
  readonly occurrence: Occurrence;
  /**
   * The version of the schedule whose rules decide about the due time or event. For an event, this is the version that was subscribed when
   * svc stored the event.
   */
  readonly version: LoadedVersion;
  readonly when: WhenResult;
};

/**
 * True if a run must be considered for a due time or event, because the schedule's condition `when` is true or could not be evaluated.
 * False if `when` is false.
 */
export function isWanted({ when }: DueCandidate): boolean {
  return "error" in when || when.isDue;
}

/**
 * A collect window (a run for which events are collected) that must close now. It contains the run and the values of its events (`given`).
 */
export type ClosingWindow = {
  readonly run: StandingRunRecord;
  readonly version: LoadedVersion;
  readonly given: JsonObject;
};

/**
 * Returns the values of one due time or event that the expressions and templates of a schedule's definition can use. For example, `fire.at`
 * is the due time.
 */
export function givenOfOccurrence(
  occurrence: Occurrence,
  { definition }: Pick<LoadedVersion, "definition">,
): TemplateValues {
  return givenOf({ ...occurrence, previousAt: occurrence.previousAt ?? null }, definition.timeZone);
}

/**
 * Returns the values that the templates of a schedule's definition can use when a window (a run that collects events) closes. `fire.at` is
 * the time of the last event in the window.
 */
export function givenOfWindow({ run, version, given }: ClosingWindow): TemplateValues {
  return givenOf({ ...run, fireAt: run.lastAt ?? run.fireAt, given }, version.definition.timeZone);
}

/** A run that starts now. `input`: the input of its job. */
export type StartedRun = {
  readonly run: NewStandingRun | StandingRunRecord;
  readonly jobId: Id<"job">;
  readonly version: LoadedVersion;
  readonly input: JsonObject | undefined;
};

/** Returns a new run for a due time or event. It is not decided yet if the run starts, waits or is skipped. */
export function runOf(
  { input: _input, given: _given, event: _event, ...occurrence }: Occurrence,
  {
    program,
    version,
    nowMs,
  }: { readonly program: StandingProgramRecord; readonly version: number; readonly nowMs: number },
): NewStandingRun {
  return {
    ...occurrence,
    id: createId("srn", nowMs),
    projectId: program.projectId,
    programId: program.id,
    version,
    lane: "",
    state: "queued",
    reason: "",
    detail: "",
    count: 1,
    rowCount: occurrence.rowCount ?? 0,
    backfillId: occurrence.backfillId ?? null,
    lastAt: null,
    bytes: 0,
    input: null,
    rateKey: "",
    decidedAt: nowMs,
    notBefore: null,
    startFailures: 0,
    startedAt: null,
    endedAt: null,
    jobId: null,
    jobStatus: "",
    blockingJobId: null,
    toolCalls: 0,
    writes: 0,
    isCounted: false,
  };
}

/** Returns those fields of a waiting run that a decision may change, so that they can be stored. */
export function changeOf(run: NewStandingRun | StandingRunRecord): StandingRunChange {
  const { id, state, reason, detail, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId } = run;
  return { id, state, reason, detail, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId };
}
