import type { Id, JsonObject, KeyId, StandingProgramId } from "@svc/core";
import {
  type ArrivalLease,
  type CountedRun,
  countEndedStandingRuns,
  type DueTaskLease,
  type Executor,
  findUsableKeys,
  holdDueTasks,
  type LaneRoom,
  lockStandingPrograms,
  type NewStandingRun,
  readClosingStandingWindows,
  readQueuedStandingRuns,
  readStandingLanes,
  readStandingRates,
  readStandingUsage,
  type StandingLane,
  type StandingProgramRecord,
  type StandingRunReason,
  type StandingRunRecord,
  skipLateStandingRuns,
} from "@svc/db";
import { Book, type ClosingWindow, dayOf, type Occurrence } from "../decide/book.ts";
import { givenOf, keyOf } from "../decide/given.ts";
import { type Polled, seenAfter, seenMax } from "../poll/polled.ts";
import { pollsThatCount } from "../poll/prepare.ts";
import { nextOfCron } from "../schedule/schedule.ts";
import type { LoadedVersion, VersionName } from "../versions.ts";
import type { StandingContext } from "./context.ts";
import type { Batch, Candidate, Filtered, Prepared, PreparedFire, PreparedPoll } from "./due.ts";
import { type HeardEvent, hearEvents } from "./events.ts";
import type { Fired } from "./fire.ts";
import { readGathered } from "./gathered.ts";
import { roomsOf } from "./room.ts";
import { inputPlace, openInput, sealInput } from "./seals.ts";

/** A program of a batch, with what was decided about it. */
export type Decided = {
  readonly program: StandingProgramRecord;
  readonly version: LoadedVersion;
  readonly book: Book;
  /** What was due of its schedule; undefined where it was not looked at. */
  readonly fired: Fired | undefined;
  readonly isAdmitted: boolean;
  /** More wait than were looked at. */
  readonly hasMore: boolean;
  /** Runs whose end was counted. */
  readonly counted: readonly CountedRun[];
  /** Runs that were made by calls, in the order of these. */
  readonly called: readonly NewStandingRun[];
  /** What was polled for it; undefined where nothing was. */
  readonly polled: Polled | undefined;
};

/** Everything that was decided in a batch. */
export type DecidedBatch = {
  readonly decided: readonly Decided[];
  /** Tasks of the batch that are still this node's. */
  readonly held: readonly DueTaskLease[];
  /** Events that were decided about: they were still this node's. */
  readonly heard: readonly ArrivalLease[];
};

/** A program has moved on since its schedule was looked at: what was found is not to be stored. */
export class StaleBatchError extends Error {}

/** Waiting runs that one transaction looks at. */
const admittedMax = 200;

/** Locks the programs of a batch and decides about everything that is due of them. Nothing but their locks is written. */
export async function decideBatch(
  context: StandingContext,
  tx: Executor,
  batch: Batch,
  prepared: Prepared,
): Promise<DecidedBatch> {
  const nowMs = context.clock.now();
  const { calls } = batch;
  const tasks = [...batch.tasks, ...batch.polls.map(({ task }) => task)];
  const listening = prepared.events.flatMap(({ candidates }) => candidates.map(({ listener }) => listener.programId));
  const ids = [
    ...new Set([...tasks.map(({ ownerId }) => ownerId), ...calls.map(({ programId }) => programId), ...listening]),
  ];
  const programs = await lockStandingPrograms(tx, ids);
  const held = tasks.length === 0 ? [] : await holdDueTasks(tx, tasks);
  const has = (kind: string) => new Set(held.filter((task) => task.kind === kind).map(({ ownerId }) => ownerId));
  const [toFire, toClose, toAdmit] = [has("fire"), has("close"), has("admit")];
  const called = Map.groupBy(calls, ({ programId }) => programId);
  const { heard, eventsOf } = await hearEvents(tx, prepared, programs);
  const polls = pollsThatCount(prepared, programs, has("poll"));
  const isDeleted = ({ id, deletedAt }: StandingProgramRecord) => deletedAt !== null && eventsOf(id).length === 0;
  const at = programs.filter(
    (program) =>
      !isDeleted(program) &&
      (toFire.has(program.id) ||
        toClose.has(program.id) ||
        toAdmit.has(program.id) ||
        polls.has(program.id) ||
        called.has(program.id) ||
        eventsOf(program.id).length > 0),
  );
  const closing = await stillClosing(tx, prepared, { ids: [...toClose], nowMs });
  const admits = at.filter(({ id, deletedAt }) => toAdmit.has(id) && deletedAt === null).map(({ id }) => id);
  const counted = Map.groupBy(await countEndedStandingRuns(tx, admits), ({ programId }) => programId);
  const today = await context.versions.get(tx, at.map(nameOf));
  const late = await skipLate(tx, { at, admits, today, nowMs });
  const lanes = await readStandingLanes(
    tx,
    at.map(({ id }) => id),
  );
  // What waits is started still where nothing more is due.
  const isActive = new Set(
    at
      .filter(({ state, deletedAt }) => (state === "active" || state === "ended") && deletedAt === null)
      .map(({ id }) => id),
  );
  const rooms = lanesWithRoom(
    lanes.filter(({ programId }) => isActive.has(programId) && toAdmit.has(programId)),
    (id) => today(nameOf(at.find((one) => one.id === id) ?? raise(id))),
  );
  const waiting = await readQueuedStandingRuns(tx, rooms.taken);
  const older = await context.versions.get(tx, waiting);
  const fires = new Map<StandingProgramId, PreparedFire>();
  for (const program of at) {
    if (toFire.has(program.id) && isActive.has(program.id)) fires.set(program.id, fireOf(prepared, program));
  }
  const dueOf = (id: StandingProgramId): readonly Candidate[] => [
    ...(fires.get(id)?.candidates ?? []),
    ...(polls.get(id)?.candidates ?? []),
    ...eventsOf(id).flatMap(({ skipped, candidate }) => (skipped === undefined ? [candidate] : [])),
    ...(called.get(id) ?? []).map(({ occurrence }) => {
      const program = at.find((one) => one.id === id) ?? raise(id);
      return { occurrence, version: today(nameOf(program)), filtered: { isDue: true } };
    }),
  ];
  const closingOf = (id: StandingProgramId) => closing.filter(({ run }) => run.programId === id);
  const books = await openBooks(context, tx, { at, today, lanes, waiting, older, dueOf, closingOf, nowMs });
  const decided = at.map((program): Decided => {
    const book = books.of(program);
    const fire = fires.get(program.id);
    const own = {
      counted: counted.get(program.id) ?? [],
      waiting: waiting.filter(({ programId }) => programId === program.id),
      fire,
      events: eventsOf(program.id),
      drifted: driftOf(prepared, program),
      poll: polls.get(program.id),
      closing: closingOf(program.id),
      calls: called.get(program.id) ?? [],
    };
    book.skipped += late.get(program.id) ?? 0;
    const runs = decideProgram(context, book, { ...own, older, ...books });
    return {
      ...{ program, version: today(nameOf(program)), book, fired: fire?.fired, counted: own.counted, called: runs },
      polled: own.poll?.polled,
      isAdmitted: toAdmit.has(program.id),
      hasMore: rooms.left.has(program.id),
    };
  });
  return { decided, held, heard };
}

/** Windows that were read, as far as nothing came to them since. */
async function stillClosing(
  tx: Executor,
  { windows }: Prepared,
  { ids, nowMs }: { readonly ids: readonly StandingProgramId[]; readonly nowMs: number },
): Promise<ClosingWindow[]> {
  if (windows.length === 0) return [];
  const now = await readClosingStandingWindows(tx, ids, { nowMs, most: windows.length });
  const counts = new Map(now.map(({ id, count }) => [id, count]));
  return windows.filter(({ run }) => counts.get(run.id) === run.count);
}

/** What was found of a schedule before its program was locked. Throws StaleBatchError where it is not so any more. */
function fireOf({ fires }: Prepared, { id, version, nextAt, previousAt }: StandingProgramRecord): PreparedFire {
  const found = fires.get(id);
  const { seen } = found ?? {};
  if (found === undefined || seen?.version !== version || seen.nextAt !== nextAt || seen.previousAt !== previousAt) {
    throw new StaleBatchError(`standing program ${id} has moved on`);
  }
  return found;
}

/** What was found of its tools before a program was locked; a version that was made since is looked at the next time. */
function driftOf({ drifts }: Prepared, { id, version }: StandingProgramRecord): string | undefined {
  const found = drifts.get(id);
  return found?.version === version ? found.detail : undefined;
}

type Due = {
  readonly counted: readonly CountedRun[];
  readonly waiting: readonly StandingRunRecord[];
  readonly fire: PreparedFire | undefined;
  readonly events: readonly HeardEvent[];
  /** Why nothing of it can start, since its tools have changed. */
  readonly drifted: string | undefined;
  readonly poll: PreparedPoll | undefined;
  readonly closing: readonly ClosingWindow[];
  readonly calls: readonly { readonly occurrence: Occurrence }[];
  readonly older: (name: VersionName) => LoadedVersion;
  readonly isKeyUsable: (keyId: KeyId) => boolean;
  readonly isHeldByPolicy: (program: StandingProgramRecord, version: LoadedVersion) => boolean;
};

/** What a pause is about, for people. */
const detailOf = {
  key_revoked: (keyId: KeyId) => `${keyId}, whose jobs its runs are, was revoked or has expired`,
  approval: () => "the project's policy has its plan wait for approval since it was made to stand",
} as const;

/** First what ended, then what waits, then what is new. Answers the runs of calls. */
function decideProgram(context: StandingContext, book: Book, due: Due): NewStandingRun[] {
  const { counted, waiting, fire, events, poll, closing, calls, older, drifted, isKeyUsable, isHeldByPolicy } = due;
  for (const { jobStatus } of counted) {
    if (jobStatus === "succeeded") book.failuresInRow = 0;
    else if (jobStatus === "failed" || jobStatus === "expired") book.failuresInRow++;
  }
  book.pauseAfterFailures();
  const { keyId } = book.facts.version.record;
  const isUsable = isKeyUsable(keyId);
  const candidates = fire?.candidates ?? [];
  const isDue = [...candidates, ...(poll?.candidates ?? []), ...events.map(({ candidate }) => candidate)].some(
    ({ filtered }) => isWanted(filtered),
  );
  const mayNotRun = (version: LoadedVersion) =>
    !version.record.needsApproval && isHeldByPolicy(book.facts.program, version);
  const isHeld = mayNotRun(book.facts.version);
  const held = !isUsable ? "key_revoked" : isHeld ? "approval" : drifted === undefined ? undefined : "drift";
  if ((isDue || waiting.length + closing.length + calls.length > 0) && held !== undefined && book.state !== "paused")
    book.pause(held, held === "drift" ? (drifted ?? "") : detailOf[held](keyId));
  if (book.state !== "paused") {
    for (const window of closing) book.close(window);
    for (const run of waiting) {
      // It keeps its version, which may be one that another took over from.
      const version = older(run);
      if (!isKeyUsable(version.record.keyId))
        book.decline(run, "key_revoked", detailOf.key_revoked(version.record.keyId));
      else if (mayNotRun(version)) book.decline(run, "approval", detailOf.approval());
      else book.admit(run, version, openInput(context.sealer, run));
    }
  }
  if (fire !== undefined) {
    const { fired } = fire;
    book.nextAt = fired.nextAt;
    if (fired.missed !== undefined) book.miss(fired.missed);
    for (const candidate of candidates) {
      book.missed += candidate.occurrence.missed;
      decideCandidate(book, candidate, held);
      book.previousAt = candidate.occurrence.fireAt;
    }
    if (book.nextAt === null && book.state === "active") book.state = "ended";
  }
  for (const { candidate, skipped } of events) {
    if (skipped !== undefined) book.skip(candidate.occurrence, skipped, candidate.version);
    else if (book.state === "paused" && held === undefined)
      book.skip(candidate.occurrence, "paused", candidate.version);
    else decideCandidate(book, candidate, held);
    book.pauseAfterFailures();
  }
  if (poll !== undefined) decidePoll(book, poll, held);
  const runs = held === undefined && book.state === "active" ? calls.map(({ occurrence }) => book.add(occurrence)) : [];
  book.pauseAfterFailures();
  return runs;
}

/** Decides about what a poll found, and about what it means that it failed. */
function decidePoll(
  book: Book,
  { polled, candidates, seen, filtered }: PreparedPoll,
  held: StandingRunReason | undefined,
): void {
  const { failures, nextAt, hold } = polled;
  book.nextAt = nextAt;
  if (hold !== undefined) {
    if (book.state === "active") book.pause(hold.reason, hold.detail);
    return;
  }
  book.seen += seen - candidates.length;
  book.filtered += filtered;
  // Polls that fail in a row count beside jobs, until one goes well.
  book.failuresInRow = Math.max(0, book.failuresInRow + failures.now - failures.before);
  for (const candidate of candidates) decideCandidate(book, candidate, held);
  book.pauseAfterFailures();
  const ids = seenAfter(polled);
  if (ids < seenMax || book.state !== "active") return;
  book.pause("source_gone", `the ids of ${ids} rows are remembered, and no more than ${seenMax} can be`);
}

/** What `when` let pass, or could not be told of. */
function isWanted(filtered: Filtered): boolean {
  return "error" in filtered || filtered.isDue;
}

/** Decides about something that is due: `when` first, then what keeps the program from starting anything, then its policies. */
function decideCandidate(
  book: Book,
  { occurrence, version, filtered }: Candidate,
  held: StandingRunReason | undefined,
): void {
  book.seen++;
  if ("error" in filtered) book.refuse(occurrence, filtered.reason, filtered.error, version);
  else if (!filtered.isDue) book.filtered++;
  else if (held !== undefined) book.refuse(occurrence, held, "", version);
  else book.add(occurrence, version);
}

function nameOf({ id: programId, projectId, version }: StandingProgramRecord): VersionName {
  return { programId, projectId, version };
}

/** Leaves out what waits for longer than its program allows; answers how much of each program. */
async function skipLate(
  tx: Executor,
  {
    at,
    admits,
    today,
    nowMs,
  }: {
    at: readonly StandingProgramRecord[];
    admits: readonly StandingProgramId[];
    today: (name: VersionName) => LoadedVersion;
    nowMs: number;
  },
): Promise<Map<StandingProgramId, number>> {
  const asked = at.filter(({ id, state }) => state !== "paused" && admits.includes(id));
  const bounds = asked.map((program) => {
    const { queueForMs } = today(nameOf(program)).definition.overlap;
    return { programId: program.id, beforeMs: nowMs - queueForMs };
  });
  const counts = new Map<StandingProgramId, number>();
  for (const id of await skipLateStandingRuns(tx, bounds, nowMs)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** In which lanes waiting runs are looked at, and which programs have more than that. */
function lanesWithRoom(
  lanes: readonly StandingLane[],
  versionOf: (id: StandingProgramId) => LoadedVersion,
): { readonly taken: LaneRoom[]; readonly left: ReadonlySet<StandingProgramId> } {
  const taken: LaneRoom[] = [];
  const left = new Set<StandingProgramId>();
  let count = 0;
  for (const { programId, lane, started, queued } of lanes) {
    const room = Math.min(queued, versionOf(programId).definition.overlap.max - started);
    if (room <= 0) continue;
    const granted = Math.min(room, admittedMax - count);
    if (granted < room) left.add(programId);
    if (granted > 0) taken.push({ programId, lane, room: granted });
    count += granted;
  }
  return { taken, left };
}

type Opening = {
  readonly at: readonly StandingProgramRecord[];
  readonly today: (name: VersionName) => LoadedVersion;
  readonly lanes: readonly StandingLane[];
  readonly waiting: readonly StandingRunRecord[];
  readonly older: (name: VersionName) => LoadedVersion;
  readonly dueOf: (id: StandingProgramId) => readonly Candidate[];
  readonly closingOf: (id: StandingProgramId) => readonly ClosingWindow[];
  readonly nowMs: number;
};

/** Reads what decisions rest on, for all programs at once. */
async function openBooks(
  context: StandingContext,
  tx: Executor,
  { at, today, lanes, waiting, older, dueOf, closingOf, nowMs }: Opening,
): Promise<Pick<Due, "isKeyUsable" | "isHeldByPolicy"> & { of(program: StandingProgramRecord): Book }> {
  const due = at.filter(
    ({ id }) =>
      dueOf(id).some(({ filtered }) => isWanted(filtered)) ||
      closingOf(id).length > 0 ||
      waiting.some(({ programId }) => programId === id),
  );
  const versionOf = (program: StandingProgramRecord) => today(nameOf(program));
  const keys =
    due.length === 0
      ? new Set<KeyId>()
      : await findUsableKeys(
          tx,
          [...due.map((one) => versionOf(one).record.keyId), ...waiting.map((run) => older(run).record.keyId)],
          nowMs,
        );
  const rateKeys = [
    ...due.flatMap(({ id }) => dueOf(id).flatMap((candidate) => rateKeyOf(id, candidate) ?? [])),
    ...waiting.flatMap((run) => {
      return older(run).definition.rate === undefined ? [] : [{ programId: run.programId, key: run.rateKey }];
    }),
    ...due.flatMap(({ id }) => closingOf(id).flatMap((window) => rateKeyOfWindow(id, window) ?? [])),
  ];
  const distinct = [...new Map(rateKeys.map((one) => [`${one.programId}/${one.key}`, one])).values()];
  const rates = Map.groupBy(await readStandingRates(tx, distinct), ({ programId }) => programId);
  const gathered = await readGathered(tx, due, dueOf);
  const budgeted = due.filter((program) => versionOf(program).definition.budget !== undefined);
  const days = budgeted.map((program) => {
    return { programId: program.id, day: dayOf(nowMs, versionOf(program).definition.timeZone) };
  });
  const usage = new Map((await readStandingUsage(tx, days)).map((one) => [one.programId, one]));
  const policies = new Map<string, Awaited<ReturnType<typeof context.starter.isHeldByPolicy>>>();
  for (const projectId of new Set(due.map((program) => program.projectId))) {
    policies.set(projectId, await context.starter.isHeldByPolicy(tx, projectId));
  }
  const rooms = await roomsOf(context, tx, new Set(due.map(({ projectId }) => projectId)));
  return {
    isKeyUsable: (keyId) => keys.has(keyId),
    isHeldByPolicy: ({ projectId }, { program, record: { estimate } }) =>
      policies.get(projectId)?.({ program, estimate }) === true,
    of: (program) =>
      new Book({
        program,
        version: versionOf(program),
        lanes: lanes.filter(({ programId }) => programId === program.id),
        rates: new Map((rates.get(program.id) ?? []).map(({ key, at: stands }) => [key, stands])),
        ...gathered(program.id),
        used: usage.get(program.id) ?? { runs: 0, toolCalls: 0, writes: 0 },
        nowMs,
        room: rooms.get(program.projectId) ?? { left: 0 },
        seal: (runId, input: JsonObject) => sealInput(context.sealer, inputPlace(program.projectId, runId), input),
        nextDayMs: (timeZone) => nextOfCron("0 0 * * *", timeZone)(nowMs) ?? nowMs + 86_400_000,
      }),
  };
}

function rateKeyOf(
  programId: StandingProgramId,
  { occurrence, version: { definition } }: Candidate,
): { programId: StandingProgramId; key: string } | undefined {
  const { rate, timeZone } = definition;
  if (rate === undefined) return undefined;
  const key = keyOf(rate.key, givenOf({ ...occurrence, previousAt: occurrence.previousAt ?? null }, timeZone));
  return "fault" in key ? undefined : { programId, key: key.text };
}

function rateKeyOfWindow(
  programId: StandingProgramId,
  { run, version, given }: ClosingWindow,
): ReturnType<typeof rateKeyOf> {
  const occurrence = { ...run, fireAt: run.lastAt ?? run.fireAt, input: undefined, given };
  return rateKeyOf(programId, { occurrence, version, filtered: { isDue: true } });
}

function raise(id: Id<"stp">): never {
  throw new Error(`standing program ${id} is not in its batch`);
}
