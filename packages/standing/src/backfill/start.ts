import { call, createId, firstUuidAt, idOfUuid, isoTime, type ProjectPrincipal, text, type Work } from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import { uuidAfterEvent } from "@svc/db/events/repo";
import type { OverlapPolicy } from "@svc/db/schema/words";
import { addBackfill, type BackfillRecord, countBackfillEvents, findRunningBackfill } from "@svc/db/standing/backfills";
import { readStandingPolls, writeStandingPoll } from "@svc/db/standing/polls";
import { clearDueTasks, lockStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import { putDueTasks } from "@svc/db/standing/task";
import type { StandingContext } from "../context.ts";
import { standingFaults } from "../errors.ts";
import { newPollState } from "../poll/state.ts";
import { sealPollState } from "../poll/store.ts";
import { testWhen } from "../prepare/when.ts";
import type { LoadedVersion } from "../versions.ts";
import { byPolicyOf, walkOf, walkRange, withRuns } from "./range.ts";

/** A caller's request for a backfill. */
export type BackfillRequest = {
  /** Start of the range, in epoch milliseconds. Undefined if the caller gave none. */
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
  readonly again: boolean;
  readonly perMinute: number;
  /**
   * Overlap policy: how svc handles a run that is due while others are active. If undefined, `allow` applies if the schedule's definition
   * says `allow`. Otherwise `queueAll` applies.
   */
  readonly policy: OverlapPolicy | undefined;
  readonly isDryRun: boolean;
};

/** A backfill that began, or the result of a dry run. `isStored`: false for a dry run. */
export type BegunBackfill = { readonly record: BackfillRecord; readonly isStored: boolean };

/** Maximum number of times or events in the range of a backfill. svc refuses a backfill with a larger range. */
const totalMax = 10_000;
/**
 * Limits for counting the events in a backfill's range. `countedMax`: maximum number of events that one query scans. `countMs`: time in
 * milliseconds after which the counting ends and the backfill is refused as too large.
 */
const countedMax = 50_000;
const countMs = 5_000;
/** Limits of a dry run. `ms`: duration in milliseconds. `bytes`: total size of the events for which the dry run evaluates conditions. */
const dryRun = { ms: 2_000, bytes: 33_554_432 };

/** Maximum attempts to begin a backfill. An attempt fails if the program changes while svc plans the backfill. */
const triesMax = 3;

/** Begins a backfill of a program and returns it. Throws the faults of the call BackfillStandingProgram. */
export async function beginBackfill(
  context: StandingContext,
  principal: ProjectPrincipal,
  program: StandingProgramRecord,
  request: BackfillRequest,
  tries = 1,
): Promise<BegunBackfill> {
  const { db, versions } = context;
  const { id: programId, projectId, state } = program;
  if (state !== "active" && state !== "ended") throw standingFaults.STANDING_PROGRAM_NOT_ACTIVE(state);
  const name = { programId, projectId, version: program.version };
  const version = (await versions.get(db, [name]))(name);
  if (version.record.needsApproval && principal.role !== "approver") throw standingFaults.APPROVER_ROLE_REQUIRED();
  const found = await planBackfill(context, principal, { program, version, request });
  if (request.isDryRun) return { record: await countRuns(context, found, version), isStored: false };
  // The plan was made before this transaction, because planning is slow, and svc decides nothing about a program while the program is
  // locked.
  const changed = await withTransaction(db, async (tx) => {
    const [now] = await lockStandingPrograms(tx, [programId]);
    if (now === undefined || now.deletedAt !== null) throw standingFaults.STANDING_PROGRAM_NOT_FOUND("id", programId);
    if (now.version !== program.version || now.state !== state) return now;
    const running = await findRunningBackfill(tx, programId);
    if (running !== undefined) throw standingFaults.BACKFILL_RUNNING(running.id);
    if (version.definition.source.kind === "poll") await forgetRows(context, tx, now);
    await addBackfill(tx, found);
    return undefined;
  });
  if (changed === undefined) return { record: found, isStored: true };
  if (tries === triesMax) throw new Error(`standing program ${programId} was changed again and again`);
  return beginBackfill(context, principal, changed, request, tries + 1);
}

type BackfillParts = {
  readonly program: StandingProgramRecord;
  readonly version: LoadedVersion;
  readonly request: BackfillRequest;
};

/** Returns the backfill that a request would begin, including the size of its range. Stores nothing. */
async function planBackfill(
  context: StandingContext,
  { keyId }: Pick<ProjectPrincipal, "keyId">,
  { program, version, request }: BackfillParts,
): Promise<BackfillRecord> {
  const nowMs = context.clock.now();
  const { id: programId, projectId } = program;
  const { overlap, source, collect } = version.definition;
  const { again, perMinute } = request;
  const of: BackfillRecord = {
    ...{ id: createId("bkf", nowMs), projectId, programId, version: program.version, again, perMinute },
    ...{ state: "running", reason: "", since: nowMs, until: nowMs, total: 0, started: 0, skipped: 0, passed: 0 },
    policy: request.policy ?? (overlap.policy === "allow" ? "allow" : "queueAll"),
    ...{ positionAt: null, positionEventId: null, pacedAt: nowMs - 60_000, callerKeyId: keyId },
    ...{ createdAt: nowMs, updatedAt: nowMs, endedAt: null },
  };
  if (source.kind === "poll") {
    assertPollIsForgotten(request);
    return { ...of, state: "done", endedAt: nowMs };
  }
  if (collect !== undefined) throw collectsEvents();
  const range = rangeOf(program, request, nowMs);
  // svc deletes no events after the stored position of a running backfill. So a position is also stored for a backfill that has decided
  // nothing yet. See `lock_swept_events`.
  const positionEventId = source.kind === "trigger" ? idOfUuid("evt", firstUuidAt(range.since)) : null;
  const ranged = { ...of, ...range, positionEventId };
  if (!again) assertRunsAreKept(program, ranged, nowMs - context.limits.runRetentionMs);
  const total = await count(context, ranged, version);
  return total > 0 ? { ...ranged, total } : { ...ranged, state: "done", endedAt: nowMs };
}

/**
 * Returns the time range of a backfill request. The range ends before the next time of the schedule. At that time, the schedule starts the
 * run itself.
 */
function rangeOf(
  { nextAt }: Pick<StandingProgramRecord, "nextAt">,
  { sinceMs, untilMs }: BackfillRequest,
  nowMs: number,
): Pick<BackfillRecord, "since" | "until"> {
  if (sinceMs === undefined) throw standingFaults.FILTER_REQUIRED();
  return { since: sinceMs, until: Math.min(untilMs ?? nowMs, nowMs, nextAt ?? nowMs) };
}

function assertPollIsForgotten({ again, sinceMs, untilMs }: BackfillRequest): void {
  if (!again)
    throw standingFaults.BACKFILL_NOT_POSSIBLE(
      "again",
      "the program polls: to find rows of the past, svc must forget which rows it knows",
      "Set again, so that the next poll finds all rows of the list.",
    );
  const field = sinceMs === undefined ? "until" : "since";
  if (sinceMs === undefined && untilMs === undefined) return;
  throw standingFaults.BACKFILL_NOT_POSSIBLE(
    field,
    `${field} is given, but rows of a polled list have no times`,
    "Leave it out.",
  );
}

function collectsEvents() {
  return standingFaults.BACKFILL_NOT_POSSIBLE(
    "id",
    "the definition collects events, and the windows of past events cannot be rebuilt",
    text`Run single events with ${call("RunStandingProgram")}, or create a second standing program that does not collect.`,
  );
}

/**
 * Throws BACKFILL_NOT_POSSIBLE if svc may have deleted old runs in the time range. The backfill would then not know that they ran, and
 * would run the same times or events a second time.
 */
function assertRunsAreKept(
  { createdAt }: Pick<StandingProgramRecord, "createdAt">,
  { since, until }: Pick<BackfillRecord, "since" | "until">,
  keptFrom: number,
): void {
  const forgottenFrom = Math.max(since, createdAt);
  if (forgottenFrom >= Math.min(until, keptFrom)) return;
  const days = `from ${isoTime(forgottenFrom)} to ${isoTime(Math.min(until, keptFrom))}`;
  throw standingFaults.BACKFILL_NOT_POSSIBLE(
    "since",
    `the runs ${days} are no longer stored, so their occurrences would run a second time`,
    "Begin later, or set again if you want that.",
  );
}

/** Returns the number of times or events in the range of a backfill. Throws BACKFILL_TOO_LARGE if there are too many. */
async function count(context: StandingContext, range: BackfillRecord, version: LoadedVersion): Promise<number> {
  const { source } = version.definition;
  if (source.kind === "poll") return 0;
  const total =
    source.kind === "trigger"
      ? await countEvents(context, range, source)
      : await countTimes(range, version, context.meter.begin({ projectId: range.projectId }));
  if (total > totalMax) throw standingFaults.BACKFILL_TOO_LARGE(totalMax);
  return total;
}

async function countTimes({ since, until }: BackfillRecord, { next }: LoadedVersion, work: Work): Promise<number> {
  let found = 0;
  let at = await next(since - 1, work);
  while (at !== undefined && at < until && found <= totalMax) {
    found++;
    at = await next(at, work);
  }
  return found;
}

async function countEvents(
  { db, clock }: StandingContext,
  range: BackfillRecord,
  source: Parameters<typeof walkOf>[1],
): Promise<number> {
  const endMs = clock.now() + countMs;
  const walk = walkOf(range, source);
  let found = 0;
  for (let fromUuid: string | undefined = firstUuidAt(range.since); fromUuid !== undefined; ) {
    const part: Awaited<ReturnType<typeof countBackfillEvents>> = await countBackfillEvents(
      db,
      { ...walk, fromUuid },
      countedMax,
    );
    found += part.count;
    if (found > totalMax) return found;
    // The time for counting is over, because the range contains too many events of other entities. A number above the maximum is returned,
    // so that the backfill is refused as too large.
    if (part.last !== undefined && clock.now() > endMs) return totalMax + 1;
    fromUuid = part.last === undefined ? undefined : uuidAfterEvent(part.last);
  }
  return found;
}

/**
 * Simulates a backfill (runs for past times or events). Returns the backfill's record with the number of runs that it would start. The
 * simulation evaluates conditions (`when`). It ignores dedupe keys, rates and budgets.
 */
async function countRuns(
  context: StandingContext,
  record: BackfillRecord,
  asIs: LoadedVersion,
): Promise<BackfillRecord> {
  const { meter } = context;
  const version = byPolicyOf(record, asIs);
  const work = meter.begin({ projectId: record.projectId });
  const beganMs = performance.now();
  let [started, passed, bytes] = [0, 0, 0];
  for await (const { item, hasRun } of withRuns(context, record, walkRange(context, record, version, work))) {
    const { occurrence } = item;
    if (occurrence === undefined) continue;
    bytes += occurrence.event?.bytes ?? 0;
    if (bytes > dryRun.bytes || performance.now() - beganMs > dryRun.ms) break;
    const when = hasRun ? { isDue: false } : await testWhen(context, version, occurrence, work);
    if ("error" in when || when.isDue) started++;
    else passed++;
    if (work.isSliceOver()) await work.turn();
  }
  return { ...record, started, passed };
}

/**
 * Forgets which rows of a polled list svc already knows. The next poll starts at once and treats every row as new. If a poll is already
 * running, its result is discarded.
 */
async function forgetRows(
  { clock, sealer }: StandingContext,
  tx: Executor,
  { id: programId, projectId }: StandingProgramRecord,
): Promise<void> {
  const poll = (await readStandingPolls(tx, [programId])).get(programId);
  if (poll === undefined) {
    const why = "the program has not polled yet, so it knows no rows to forget";
    throw standingFaults.BACKFILL_NOT_POSSIBLE(
      "id",
      why,
      "Wait for its first poll, or let `first` of its definition be all.",
    );
  }
  await writeStandingPoll(tx, {
    ...poll,
    generation: poll.generation + 1,
    state: sealPollState(sealer, { programId, projectId }, newPollState("all")),
    ...{ isPrimed: false, seen: 0, hasStale: true },
  });
  await clearDueTasks(tx, programId, ["poll"]);
  await putDueTasks(tx, [{ ownerId: programId, kind: "poll", subject: "", projectId, dueAt: clock.now() }]);
}
