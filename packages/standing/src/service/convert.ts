import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { EventId } from "@svc/core";
import type { StandingRunState, StandingState } from "@svc/db/schema/words";
import type { StandingUsage } from "@svc/db/standing/bounds";
import type { StandingPollRecord } from "@svc/db/standing/polls";
import type { StandingProgramRecord, StandingVersionRecord } from "@svc/db/standing/programs";
import type { NewStandingRun, StandingRunRecord } from "@svc/db/standing/runs";
import {
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

/** The state of a list's filter; undefined for UNSPECIFIED. */
export function stateOfFilter(state: StandingStateMessage): StandingState | undefined {
  return keyOf(states, state);
}

/** The state of a list's filter of runs; undefined for UNSPECIFIED. */
export function runStateOfFilter(state: StandingRunStateMessage): StandingRunState | undefined {
  return keyOf(runStates, state);
}

function keyOf<Name extends string, Value>(table: Readonly<Record<Name, Value>>, value: Value): Name | undefined {
  return (Object.keys(table) as Name[]).find((name) => table[name] === value);
}

/** A program with what is read beside its row. */
export type ProgramParts = {
  readonly program: StandingProgramRecord;
  readonly version: Omit<StandingVersionRecord, "definition">;
  /** The definition as it is shown; empty in a list. */
  readonly definitionJson: string;
  /** Epoch milliseconds. */
  readonly nextTimes: readonly number[];
  readonly lastRun: StandingRunRecord | undefined;
  /** Undefined before its first poll. */
  readonly poll: StandingPollRecord | undefined;
  /** Runs that wait, and those under way. */
  readonly open: { readonly queued: number; readonly started: number };
  readonly usedToday: Pick<StandingUsage, "day" | "runs" | "toolCalls" | "writes">;
};

/** A standing program as callers read it. */
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

/** A run as callers read it. */
export function toRun(run: StandingRunRecord | NewStandingRun, eventIds: readonly EventId[] = []): StandingRun {
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
  });
}

/** The event that a run is of, by the name of its occurrence: also where a backfill made it another time. */
function eventIdsOf({ sourceKey }: Pick<StandingRunRecord, "sourceKey">): string[] {
  return [sourceKey.slice(sourceKey.lastIndexOf("e:") + "e:".length)];
}
