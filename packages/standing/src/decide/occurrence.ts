import { type BackfillId, createId, type Id, type JsonObject } from "@svc/core";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { NewStandingRun, StandingRunChange, StandingRunRecord } from "@svc/db/standing/runs";
import type { TemplateValues } from "../definition/definition.ts";
import type { LoadedVersion } from "../versions.ts";
import { givenOf } from "./given.ts";
import type { CollectedEvent } from "./windows.ts";

/** Something that is due: a time of the schedule, an event, or a call. */
export type Occurrence = Pick<
  NewStandingRun,
  "kind" | "sourceKey" | "fireAt" | "missed" | "previousAt" | "callerKeyId"
> & {
  /** What a caller gave; undefined: the definition makes the input. */
  readonly input: JsonObject | undefined;
  /** Rows of a polled list that it is about. */
  readonly rowCount?: number | undefined;
  /** What is given beside `fire`, by name. */
  readonly given?: JsonObject | undefined;
  /** The event that it is, where it is one. */
  readonly event?: CollectedEvent | undefined;
  /** The backfill that makes it due again, or late. */
  readonly backfillId?: BackfillId | null | undefined;
};

/** A window whose time is over, with what it hands over. */
export type ClosingWindow = {
  readonly run: StandingRunRecord;
  readonly version: LoadedVersion;
  readonly given: JsonObject;
};

/** What the templates of a version are filled in with for something that is due. */
export function givenOfOccurrence(
  occurrence: Occurrence,
  { definition }: Pick<LoadedVersion, "definition">,
): TemplateValues {
  return givenOf({ ...occurrence, previousAt: occurrence.previousAt ?? null }, definition.timeZone);
}

/** The same for a window: it is of the time of its last event. */
export function givenOfWindow({ run, version, given }: ClosingWindow): TemplateValues {
  return givenOf({ ...run, fireAt: run.lastAt ?? run.fireAt, given }, version.definition.timeZone);
}

/** A run that is started, with the input of its job. */
export type StartedRun = {
  readonly run: NewStandingRun | StandingRunRecord;
  readonly jobId: Id<"job">;
  readonly version: LoadedVersion;
  readonly input: JsonObject | undefined;
};

/** A run of an occurrence about which nothing is decided yet. */
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

/** What is written of a run that waited. */
export function changeOf(run: NewStandingRun | StandingRunRecord): StandingRunChange {
  const { id, state, reason, detail, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId } = run;
  return { id, state, reason, detail, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId };
}
