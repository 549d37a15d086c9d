import type { Id, JsonObject, KeyId, StandingProgramId } from "@svc/core";
import {
  type ClaimedDueTask,
  type CountedRun,
  countEndedStandingRuns,
  type DueTaskLease,
  type Executor,
  findUsableKeys,
  holdDueTasks,
  type LaneRoom,
  lockStandingPrograms,
  type NewStandingRun,
  readQueuedStandingRuns,
  readStandingLanes,
  readStandingRates,
  readStandingUsage,
  type StandingLane,
  type StandingProgramRecord,
  type StandingRunRecord,
  skipLateStandingRuns,
} from "@svc/db";
import { Book, dayOf, type Occurrence } from "../decide/book.ts";
import { givenOf, keyOf } from "../decide/given.ts";
import { nextOfCron } from "../schedule/schedule.ts";
import type { LoadedVersion, VersionName } from "../versions.ts";
import type { StandingContext } from "./context.ts";
import { type Fired, firedOf } from "./fire.ts";
import { roomsOf } from "./room.ts";
import { inputPlace, openInput, sealInput } from "./seals.ts";

/** What one transaction decides about: tasks that this node holds, and calls. */
export type Batch = {
  readonly tasks: readonly ClaimedDueTask[];
  readonly calls: readonly { readonly programId: StandingProgramId; readonly occurrence: Occurrence }[];
};

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
};

/** Everything that was decided in a batch. */
export type DecidedBatch = {
  readonly decided: readonly Decided[];
  /** Tasks of the batch that are still this node's. */
  readonly held: readonly DueTaskLease[];
};

/** Waiting runs that one transaction looks at. */
const admittedMax = 200;

/** Locks the programs of a batch and decides about everything that is due of them. Nothing but their locks is written. */
export async function decideBatch(
  context: StandingContext,
  tx: Executor,
  { tasks, calls }: Batch,
): Promise<DecidedBatch> {
  const nowMs = context.clock.now();
  const ids = [...new Set([...tasks.map(({ ownerId }) => ownerId), ...calls.map(({ programId }) => programId)])];
  const programs = await lockStandingPrograms(tx, ids);
  const held = tasks.length === 0 ? [] : await holdDueTasks(tx, tasks);
  const has = (kind: string) => new Set(held.filter((task) => task.kind === kind).map(({ ownerId }) => ownerId));
  const [toFire, toAdmit] = [has("fire"), has("admit")];
  const called = Map.groupBy(calls, ({ programId }) => programId);
  const at = programs.filter(
    ({ id, deletedAt }) => deletedAt === null && (toFire.has(id) || toAdmit.has(id) || called.has(id)),
  );
  const admits = at.filter(({ id }) => toAdmit.has(id)).map(({ id }) => id);
  const counted = Map.groupBy(await countEndedStandingRuns(tx, admits), ({ programId }) => programId);
  const today = await context.versions.get(tx, at.map(nameOf));
  const late = await skipLate(tx, { at, admits, today, nowMs });
  const lanes = await readStandingLanes(
    tx,
    at.map(({ id }) => id),
  );
  // What waits is started still where nothing more is due.
  const isActive = new Set(at.filter(({ state }) => state === "active" || state === "ended").map(({ id }) => id));
  const rooms = lanesWithRoom(
    lanes.filter(({ programId }) => isActive.has(programId) && toAdmit.has(programId)),
    (id) => today(nameOf(at.find((one) => one.id === id) ?? raise(id))),
  );
  const waiting = await readQueuedStandingRuns(tx, rooms.taken);
  const older = await context.versions.get(tx, waiting);
  const fired = new Map<StandingProgramId, Fired>();
  for (const program of at) {
    if (!toFire.has(program.id) || !isActive.has(program.id)) continue;
    fired.set(program.id, await firedOf(program, today(nameOf(program)), nowMs));
  }
  const occurrencesOf = (id: StandingProgramId) => [
    ...(fired.get(id)?.occurrences ?? []),
    ...(called.get(id) ?? []).map(({ occurrence }) => occurrence),
  ];
  const books = await openBooks(context, tx, { at, today, lanes, waiting, older, occurrencesOf, nowMs });
  const decided = at.map((program): Decided => {
    const book = books.of(program);
    const own = {
      counted: counted.get(program.id) ?? [],
      waiting: waiting.filter(({ programId }) => programId === program.id),
      fired: fired.get(program.id),
      calls: called.get(program.id) ?? [],
    };
    book.skipped += late.get(program.id) ?? 0;
    const runs = decideProgram(context, book, { ...own, older, ...books });
    return {
      ...{ program, version: today(nameOf(program)), book, fired: own.fired, counted: own.counted, called: runs },
      isAdmitted: toAdmit.has(program.id),
      hasMore: rooms.left.has(program.id),
    };
  });
  return { decided, held };
}

type Due = {
  readonly counted: readonly CountedRun[];
  readonly waiting: readonly StandingRunRecord[];
  readonly fired: Fired | undefined;
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
  const { counted, waiting, fired, calls, older, isKeyUsable, isHeldByPolicy } = due;
  for (const { jobStatus } of counted) {
    if (jobStatus === "succeeded") book.failuresInRow = 0;
    else if (jobStatus === "failed" || jobStatus === "expired") book.failuresInRow++;
  }
  book.pauseAfterFailures();
  const { keyId } = book.facts.version.record;
  const isUsable = isKeyUsable(keyId);
  const isDue = waiting.length + calls.length + (fired?.occurrences.length ?? 0) > 0;
  const mayNotRun = (version: LoadedVersion) =>
    !version.record.needsApproval && isHeldByPolicy(book.facts.program, version);
  const isHeld = mayNotRun(book.facts.version);
  const held = !isUsable ? "key_revoked" : isHeld ? "approval" : undefined;
  if (isDue && held !== undefined && book.state !== "paused") book.pause(held, detailOf[held](keyId));
  if (book.state !== "paused") {
    for (const run of waiting) {
      // It keeps its version, which may be one that another took over from.
      const version = older(run);
      if (!isKeyUsable(version.record.keyId))
        book.decline(run, "key_revoked", detailOf.key_revoked(version.record.keyId));
      else if (mayNotRun(version)) book.decline(run, "approval", detailOf.approval());
      else book.admit(run, version, openInput(context.sealer, run));
    }
  }
  if (fired !== undefined) {
    book.nextAt = fired.nextAt;
    if (fired.missed !== undefined) book.miss(fired.missed);
    for (const occurrence of fired.occurrences) {
      book.missed += occurrence.missed;
      if (held === undefined) book.add(occurrence);
      else book.refuse(occurrence, held, "");
      book.previousAt = occurrence.fireAt;
    }
    if (book.nextAt === null && book.state === "active") book.state = "ended";
  }
  const runs = held === undefined && book.state === "active" ? calls.map(({ occurrence }) => book.add(occurrence)) : [];
  book.pauseAfterFailures();
  return runs;
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
  readonly occurrencesOf: (id: StandingProgramId) => readonly Occurrence[];
  readonly nowMs: number;
};

/** Reads what decisions rest on, for all programs at once. */
async function openBooks(
  context: StandingContext,
  tx: Executor,
  { at, today, lanes, waiting, older, occurrencesOf, nowMs }: Opening,
): Promise<Pick<Due, "isKeyUsable" | "isHeldByPolicy"> & { of(program: StandingProgramRecord): Book }> {
  const due = at.filter(({ id }) => occurrencesOf(id).length > 0 || waiting.some(({ programId }) => programId === id));
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
    ...due.flatMap((program) => {
      const { definition } = versionOf(program);
      if (definition.rate === undefined) return [];
      return occurrencesOf(program.id).map((one) =>
        rateKeyOf(program.id, definition, { ...one, previousAt: one.previousAt ?? null }),
      );
    }),
    ...waiting.flatMap((run) => {
      const { definition } = older(run);
      return definition.rate === undefined ? [] : [rateKeyOf(run.programId, definition, run)];
    }),
  ].flatMap((key) => key ?? []);
  const distinct = [...new Map(rateKeys.map((one) => [`${one.programId}/${one.key}`, one])).values()];
  const rates = Map.groupBy(await readStandingRates(tx, distinct), ({ programId }) => programId);
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
  { rate, timeZone }: LoadedVersion["definition"],
  fire: Parameters<typeof givenOf>[0],
): { programId: StandingProgramId; key: string } | undefined {
  const key = keyOf(rate?.key, givenOf(fire, timeZone));
  return "fault" in key ? undefined : { programId, key: key.text };
}

function raise(id: Id<"stp">): never {
  throw new Error(`standing program ${id} is not in its batch`);
}
