import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type EventId, type Failure, refusedRunFailure } from "@svc/core";
import type { BackfillState, StandingRunState, StandingState } from "@svc/db/schema/words";
import type { BackfillRecord } from "@svc/db/standing/backfills";
import type { StandingUsage } from "@svc/db/standing/bounds";
import type { StandingPollRecord } from "@svc/db/standing/polls";
import type { StandingProgramRecord, StandingVersionRecord } from "@svc/db/standing/programs";
import type { NewStandingRun, StandingRunRecord } from "@svc/db/standing/runs";
import {
  type Backfill,
  BackfillSchema,
  BackfillState as BackfillStateMessage,
  type PollState,
  PollStateSchema,
  type StandingProgram,
  StandingProgramSchema,
  type StandingRun,
  StandingRunSchema,
  StandingRunState as StandingRunStateMessage,
  StandingState as StandingStateMessage,
} from "@svc/gen/standing";
import { toEstimate } from "@svc/jobs";
import { failureMessage } from "@svc/tools";

const states: Readonly<Record<StandingState, StandingStateMessage>> = {
  pending: StandingStateMessage.PENDING_APPROVAL,
  active: StandingStateMessage.ACTIVE,
  paused: StandingStateMessage.PAUSED,
  ended: StandingStateMessage.ENDED,
};

const runStates: Readonly<Record<StandingRunState, StandingRunStateMessage>> = {
  collecting: StandingRunStateMessage.COLLECTING,
  closing: StandingRunStateMessage.COLLECTING,
  queued: StandingRunStateMessage.QUEUED,
  started: StandingRunStateMessage.STARTED,
  ended: StandingRunStateMessage.ENDED,
  skipped: StandingRunStateMessage.SKIPPED,
  refused: StandingRunStateMessage.REFUSED,
};

/**
 * Returns the state of standing programs (schedules) by which a request filters a list. Returns undefined for UNSPECIFIED, which means all
 * states.
 */
export function stateOfFilter(state: StandingStateMessage): StandingState | undefined {
  return keyOf(states, state);
}

/** Returns the run state that a list filter names. Returns undefined for UNSPECIFIED. */
export function runStateOfFilter(state: StandingRunStateMessage): StandingRunState | undefined {
  return keyOf(runStates, state);
}

function keyOf<Name extends string, Value>(table: Readonly<Record<Name, Value>>, value: Value): Name | undefined {
  return (Object.keys(table) as Name[]).find((name) => table[name] === value);
}

/**
 * A standing program (a program that starts jobs on a schedule or event), and further stored values that its API message contains. Examples
 * are its version and its last run.
 */
export type ProgramParts = {
  readonly program: StandingProgramRecord;
  readonly version: Omit<StandingVersionRecord, "definition">;
  /** The definition, with sensitive values masked. Empty in a list. */
  readonly definitionJson: string;
  /** Next start times, in epoch milliseconds. */
  readonly nextTimes: readonly number[];
  readonly lastRun: StandingRunRecord | undefined;
  /** The state of the program's polls. Undefined before the first poll. */
  readonly poll: StandingPollRecord | undefined;
  /** Number of waiting runs (`queued`) and of started runs that have not ended (`started`). */
  readonly open: { readonly queued: number; readonly started: number };
  readonly usedToday: Pick<StandingUsage, "day" | "runs" | "toolCalls" | "writes">;
};

/** Returns the API message of a standing program (which starts jobs on a schedule or event). */
export function toProgram(parts: ProgramParts): StandingProgram {
  const { program, version, definitionJson, nextTimes, lastRun, open, usedToday, poll } = parts;
  return create(StandingProgramSchema, {
    id: program.id,
    slug: program.slug,
    title: program.title,
    state: states[program.state],
    pauseReason: program.pauseReason,
    pauseDetail: program.pauseDetail,
    version: program.version,
    definitionJson,
    definitionHash: version.definitionHash,
    programHash: version.programHash,
    estimate: toEstimate(version.estimate),
    keyId: version.keyId,
    sourceKind: program.sourceKind,
    timeZone: program.timeZone,
    nextTimes: nextTimes.map(timestampFromMs),
    ...(lastRun && { lastRun: toRun(lastRun) }),
    counts: {
      started: BigInt(program.started),
      skipped: BigInt(program.skipped),
      missed: BigInt(program.missed),
      seen: BigInt(program.seen),
      filtered: BigInt(program.filtered),
      failuresInRow: program.failuresInRow,
      queued: open.queued,
      underWay: open.started,
    },
    usedToday: {
      day: usedToday.day,
      runs: usedToday.runs,
      toolCalls: BigInt(usedToday.toolCalls),
      writes: BigInt(usedToday.writes),
    },
    needsApproval: version.needsApproval,
    pendingVersion: program.pendingVersion,
    approvalId: version.approval === "granted" ? version.approvalId : "",
    ...(program.sourceKind === "poll" && { pollState: toPollState(poll) }),
    ...(program.sourceKind === "poll" && poll && { lastPollAt: timestampFromMs(poll.polledAt) }),
    createdAt: timestampFromMs(program.createdAt),
    updatedAt: timestampFromMs(program.updatedAt),
  });
}

function toPollState(poll: StandingPollRecord | undefined): PollState {
  if (poll === undefined) return create(PollStateSchema);
  const { outcome, code, detail, pages, rows, found, seen, failuresInRow } = poll;
  return create(PollStateSchema, {
    polledAt: timestampFromMs(poll.polledAt),
    ...{ outcome, code, detail, pages, rows, found, seen, failuresInRow },
    primed: poll.isPrimed,
  });
}

/** Facts about a run that other tables have: ids of its first events, and why its job failed. */
export type RunFacts = { readonly eventIds?: readonly EventId[]; readonly jobFailure?: Failure | undefined };

/** Returns the API message of a run. */
export function toRun(
  run: StandingRunRecord | NewStandingRun,
  { eventIds = [], jobFailure }: RunFacts = {},
): StandingRun {
  const { reason, detail, state, decidedAt, endedAt } = run;
  const refused = state === "refused" ? refusedRunFailure({ reason, detail, atMs: endedAt ?? decidedAt }) : undefined;
  const failure = jobFailure ?? refused;
  const time = (ms: number | null | undefined) => (ms === null || ms === undefined ? undefined : timestampFromMs(ms));
  const times = {
    startedAt: time(run.startedAt),
    endedAt: time(run.endedAt),
    lastAt: time(run.lastAt),
    notBefore: ["queued", "collecting", "closing"].includes(run.state) ? time(run.notBefore) : undefined,
  };
  return create(StandingRunSchema, {
    id: run.id,
    standingProgramId: run.programId,
    version: run.version,
    kind: run.kind,
    fireAt: timestampFromMs(run.fireAt),
    decidedAt: timestampFromMs(run.decidedAt),
    ...Object.fromEntries(Object.entries(times).filter(([, at]) => at !== undefined)),
    state: runStates[run.state],
    reason: run.reason,
    detail: run.detail,
    count: run.count,
    eventIds: run.kind === "event" && eventIds.length === 0 ? eventIdsOf(run) : [...eventIds],
    missed: run.missed,
    rowCount: run.rowCount ?? 0,
    key: run.lane,
    jobId: run.jobId ?? "",
    jobStatus: run.jobStatus,
    blockingJobId: run.blockingJobId ?? "",
    backfillId: run.backfillId ?? "",
    ...(failure && { failure: failureMessage(failure) }),
  });
}

/** Returns a list with one id: that of the event that caused the run. The source key ends with this id, after the last `e:`. */
function eventIdsOf({ sourceKey }: Pick<StandingRunRecord, "sourceKey">): string[] {
  return [sourceKey.slice(sourceKey.lastIndexOf("e:") + "e:".length)];
}

const backfillStates: Readonly<Record<BackfillState, BackfillStateMessage>> = {
  running: BackfillStateMessage.RUNNING,
  done: BackfillStateMessage.DONE,
  cancelled: BackfillStateMessage.CANCELLED,
};

/** Returns the API message of a backfill. */
export function toBackfill(
  record: BackfillRecord,
  program: Pick<StandingProgramRecord, "state" | "sourceKind"> | undefined,
  { isStored }: { readonly isStored: boolean },
): Backfill {
  const { id, programId, state, reason, since, until, again, perMinute, policy, createdAt, endedAt } = record;
  const isPaused = state === "running" && program?.state === "paused";
  return create(BackfillSchema, {
    id: isStored ? id : "",
    standingProgramId: programId,
    state: isStored ? backfillStates[state] : BackfillStateMessage.UNSPECIFIED,
    reason: isPaused ? "paused" : reason,
    ...(program?.sourceKind !== "poll" && { since: timestampFromMs(since), until: timestampFromMs(until) }),
    ...{ again, perMinute, policy },
    ...{ total: record.total, started: record.started, skipped: record.skipped, passed: record.passed },
    createdAt: timestampFromMs(createdAt),
    ...(isStored && endedAt !== null && { endedAt: timestampFromMs(endedAt) }),
  });
}
