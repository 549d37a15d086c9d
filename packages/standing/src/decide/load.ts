import type { StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { StandingRunReason } from "@svc/db/schema/words";
import { countWaitingRuns, findRunningBackfill, findSourceRuns, findTakenEvents } from "@svc/db/standing/backfills";
import { type InboxLease, lockInboxLeases } from "@svc/db/standing/inbox";
import { lockStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import { countEndedStandingRuns } from "@svc/db/standing/runs";
import { type DueTaskLease, holdDueTasks } from "@svc/db/standing/task";
import { findTriggerSubscriptions, type TriggerSubscription } from "@svc/db/standing/trigger-subscriptions";
import { readClosingStandingWindows, readKnownKeys } from "@svc/db/standing/windows";
import { dedupeKeyOf } from "../backfill/dedupe.ts";
import { waitingMax } from "../backfill/load.ts";
import type { ClosingWindow } from "./occurrence.ts";
import type { VersionName } from "../versions.ts";
import type { StandingContext } from "../context.ts";
import type {
  DecisionBatch,
  DueBackfill,
  HeardEvent,
  PreparedBackfill,
  PreparedDecision,
  PreparedFire,
  PreparedPoll,
  ProgramDue,
} from "../prepare/due.ts";
import { type FreshDue, withWaiting } from "./waiting.ts";

/** A program has moved on since its schedule was looked at: what was found is not to be stored. */
export class StaleBatchError extends Error {}

/** What a batch is decided by. */
export type LoadedBatch = {
  readonly dues: readonly ProgramDue[];
  /** Tasks that are still this node's. */
  readonly held: readonly DueTaskLease[];
  /** Events that are still this node's. */
  readonly heard: readonly InboxLease[];
};

type Load = { readonly batch: DecisionBatch; readonly prepared: PreparedDecision; readonly nowMs: number };

/** Locks the programs of a batch, and reads what is due of them and what waits. */
export async function loadBatch(context: StandingContext, tx: Executor, load: Load): Promise<LoadedBatch> {
  const { prepared, nowMs } = load;
  const claimed = await lockBatch(tx, load);
  const { held, heard, has, calls, eventsOf, polls } = claimed;
  const at = claimed.programs.filter((program) => isConcerned(program, claimed));
  const closing = await stillClosing(tx, prepared, { ids: [...has("close")], nowMs });
  const admitted = at.filter(({ id, deletedAt }) => has("admit").has(id) && deletedAt === null);
  const ended = await countEndedStandingRuns(
    tx,
    admitted.map(({ id }) => id),
  );
  const counted = Map.groupBy(ended, ({ programId }) => programId);
  const versionOf = await context.versions.get(tx, at.map(nameOf));
  const backfills = await loadBackfills(tx, at, claimed, prepared);
  const fresh = at.map((program): FreshDue => {
    const { id } = program;
    const version = versionOf(nameOf(program));
    const occurrences = calls.get(id) ?? [];
    return {
      ...{ program, version, isAdmitted: has("admit").has(id), counted: counted.get(id) ?? [] },
      ...{ closing: closing.get(id) ?? [], drifted: driftOf(prepared, program) },
      ...{ events: eventsOf(id), poll: polls.get(id) },
      backfill: backfills.get(id),
      fire: has("fire").has(id) && isStanding(program) ? fireOf(prepared, program) : undefined,
      calls: occurrences.map(({ occurrence }) => ({ occurrence, version, filtered: { isDue: true } })),
    };
  });
  const dues = await withWaiting(context, tx, fresh, nowMs);
  return { dues, held, heard };
}

/** What was claimed of a batch, by program, with the programs locked. */
type Claimed = {
  readonly programs: readonly StandingProgramRecord[];
  readonly held: readonly DueTaskLease[];
  readonly heard: readonly InboxLease[];
  /** Programs whose task of a kind is still this node's. */
  readonly has: (kind: DueTaskLease["kind"]) => ReadonlySet<StandingProgramId>;
  readonly calls: ReadonlyMap<StandingProgramId, DecisionBatch["calls"]>;
  readonly eventsOf: (id: StandingProgramId) => readonly HeardEvent[];
  readonly polls: ReadonlyMap<StandingProgramId, PreparedPoll>;
};

/** Locks programs first, in their order, then what is due of them: whoever decides or moves programs waits for others in one order. */
async function lockBatch(tx: Executor, { batch, prepared }: Load): Promise<Claimed> {
  const tasks = [...batch.tasks, ...batch.polls.map(({ task }) => task)];
  const listening = prepared.events.flatMap(({ candidates }) => candidates.map(({ listener }) => listener.programId));
  const named = [...tasks.map(({ ownerId }) => ownerId), ...batch.calls.map(({ programId }) => programId)];
  const programs = await lockStandingPrograms(tx, [...new Set([...named, ...listening])]);
  const held = tasks.length === 0 ? [] : await holdDueTasks(tx, tasks);
  const { heard, eventsOf } = await hearEvents(tx, prepared, programs);
  const owners = new Map<string, Set<StandingProgramId>>();
  for (const [kind, own] of Map.groupBy(held, (task) => task.kind))
    owners.set(kind, new Set(own.map(({ ownerId }) => ownerId)));
  const has: Claimed["has"] = (kind) => owners.get(kind) ?? new Set();
  const calls = Map.groupBy(batch.calls, ({ programId }) => programId);
  return { programs, held, heard, has, calls, eventsOf, polls: pollsThatCount(prepared, programs, has("poll")) };
}

/** Whether something is due of a program. One that was deleted is told of its events, and of nothing else. */
function isConcerned({ id, deletedAt }: StandingProgramRecord, { has, calls, eventsOf, polls }: Claimed): boolean {
  if (eventsOf(id).length > 0) return true;
  if (deletedAt !== null) return false;
  return (
    has("fire").has(id) ||
    has("close").has(id) ||
    has("admit").has(id) ||
    has("backfill").has(id) ||
    polls.has(id) ||
    calls.has(id)
  );
}

/** Whether what waits of a program is started still: also where nothing more is due of it. */
function isStanding({ state, deletedAt }: StandingProgramRecord): boolean {
  return (state === "active" || state === "ended") && deletedAt === null;
}

/** Windows that were read, as far as nothing came to them since. */
async function stillClosing(
  tx: Executor,
  { windows }: PreparedDecision,
  { ids, nowMs }: { readonly ids: readonly StandingProgramId[]; readonly nowMs: number },
): Promise<Map<StandingProgramId, ClosingWindow[]>> {
  if (windows.length === 0) return new Map();
  const now = await readClosingStandingWindows(tx, ids, { nowMs, most: windows.length });
  const counts = new Map(now.map(({ id, count }) => [id, count]));
  const same = windows.filter(({ run }) => counts.get(run.id) === run.count);
  return Map.groupBy(same, ({ run }) => run.programId);
}

/** What was found of a schedule before its program was locked. Throws StaleBatchError where it is not so any more. */
function fireOf({ fires }: PreparedDecision, { id, version, nextAt, previousAt }: StandingProgramRecord): PreparedFire {
  const found = fires.get(id);
  const { seen } = found ?? {};
  if (found === undefined || seen?.version !== version || seen.nextAt !== nextAt || seen.previousAt !== previousAt) {
    throw new StaleBatchError(`standing program ${id} has moved on`);
  }
  return found;
}

/** What was found of backfills before their programs were locked. Throws StaleBatchError where it is not so any more. */
async function loadBackfills(
  tx: Executor,
  at: readonly StandingProgramRecord[],
  { has }: Pick<Claimed, "has">,
  { backfills }: PreparedDecision,
): Promise<Map<StandingProgramId, DueBackfill>> {
  const due = new Map<StandingProgramId, DueBackfill>();
  for (const program of at) {
    if (!has("backfill").has(program.id) || !isStanding(program)) continue;
    const loaded = await loadBackfill(tx, program, backfills.get(program.id));
    if (loaded === "moved") throw new StaleBatchError(`the backfill of standing program ${program.id} has moved on`);
    if (loaded !== undefined) due.set(program.id, loaded);
  }
  return due;
}

/** What was found of its tools before a program was locked; a version that was made since is looked at the next time. */
function driftOf({ drifts }: PreparedDecision, { id, version }: StandingProgramRecord): string | undefined {
  const found = drifts.get(id);
  return found?.version === version ? found.detail : undefined;
}

/** Names the version of today of a program. */
function nameOf({ id: programId, projectId, version }: StandingProgramRecord): VersionName {
  return { programId, projectId, version };
}

/** The events of a batch that are still this node's, by the programs that listened to them. These are locked by now. */
async function hearEvents(
  tx: Executor,
  { events }: PreparedDecision,
  programs: readonly StandingProgramRecord[],
): Promise<{ readonly heard: readonly InboxLease[]; eventsOf(id: StandingProgramId): readonly HeardEvent[] }> {
  const heard = await lockInboxLeases(
    tx,
    events.map(({ arrival }) => arrival),
  );
  const isHeld = new Set(heard.map(({ eventId, projectId }) => `${projectId} ${eventId}`));
  const own = events.filter(({ arrival }) => isHeld.has(`${arrival.projectId} ${arrival.eventId}`));
  // Who was paused or deleted while it was looked at says so now.
  const listeners = new Map(
    (
      await findTriggerSubscriptions(
        tx,
        own.flatMap(({ arrival, candidates }) => (candidates.length === 0 ? [] : [arrival])),
      )
    ).map((listener) => [keyOf(listener), listener]),
  );
  const byId = new Map(programs.map((program) => [program.id, program]));
  const all = new Map<StandingProgramId, HeardEvent[]>();
  for (const { listener, candidate } of own.flatMap(({ candidates }) => candidates)) {
    const program = byId.get(listener.programId);
    if (program === undefined) continue;
    const skipped = whySkipped(program, listeners.get(keyOf(listener)) ?? listener);
    const own = all.get(program.id);
    if (own === undefined) all.set(program.id, [{ candidate, skipped }]);
    else own.push({ candidate, skipped });
  }
  return { heard, eventsOf: (id) => all.get(id) ?? [] };
}

function keyOf({ programId, fromVersion }: Pick<TriggerSubscription, "programId" | "fromVersion">): string {
  return `${programId} ${fromVersion}`;
}

function whySkipped(
  { state, deletedAt }: StandingProgramRecord,
  { endReason }: TriggerSubscription,
): StandingRunReason | undefined {
  if (deletedAt !== null) return "deleted";
  return endReason === "paused" || state === "paused" ? "paused" : undefined;
}

/** The polls of a batch that are still this node's, for programs that are as they were polled for. These are locked by now. */
function pollsThatCount(
  { polls }: PreparedDecision,
  programs: readonly StandingProgramRecord[],
  held: ReadonlySet<StandingProgramId>,
): Map<StandingProgramId, PreparedPoll> {
  const counting = new Map<StandingProgramId, PreparedPoll>();
  for (const { id, state, deletedAt, version } of programs) {
    const poll = polls.get(id);
    if (poll === undefined || !held.has(id) || state !== "active" || deletedAt !== null) continue;
    if (poll.polled.loaded.record.version === version) counting.set(id, poll);
  }
  return counting;
}

/**
 * What was found of the backfill of a locked program, with what it is decided by. Undefined where there is none any more; "moved" where
 * it, or its program, has moved on since: also where none was found, and one has begun since, whose task is the one that is held.
 */
async function loadBackfill(
  tx: Executor,
  { id: programId, projectId, version }: StandingProgramRecord,
  prepared: PreparedBackfill | undefined,
): Promise<DueBackfill | "moved" | undefined> {
  const now = await findRunningBackfill(tx, programId);
  if (now === undefined) return undefined;
  if (prepared === undefined) return "moved";
  const { record, looks } = prepared;
  const isSame =
    now.id === record.id &&
    now.positionAt === record.positionAt &&
    now.positionEventId === record.positionEventId &&
    now.pacedAt === record.pacedAt;
  if (!isSame || version !== prepared.versionNumber) return "moved";
  const events = looks.flatMap(({ event, candidate }) => (event && candidate ? [event] : []));
  return {
    ...{ ...prepared, record: now },
    runs: await findSourceRuns(
      tx,
      programId,
      looks.flatMap(({ candidate }) => candidate?.occurrence.sourceKey ?? []),
    ),
    taken: record.again ? new Map() : await findTakenEvents(tx, { programId, projectId }, events),
    seen: await seenOf(tx, programId, prepared),
    waiting: await countWaitingRuns(tx, programId, waitingMax),
  };
}

async function seenOf(
  tx: Executor,
  programId: StandingProgramId,
  { record, version, looks }: PreparedBackfill,
): Promise<Map<string, number>> {
  const names = looks.flatMap(({ candidate }) => {
    const key = version && candidate && dedupeKeyOf(record, candidate, version);
    return key === undefined || "fault" in key ? [] : [key.own, key.live];
  });
  const seen = await readKnownKeys(
    tx,
    [...new Set(names)].map((key) => ({ programId, key })),
  );
  return new Map(seen.map(({ key, until }) => [key, until]));
}
