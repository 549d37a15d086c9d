import type { StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import {
  type ConcurrencyKey,
  type ConcurrencyKeySlots,
  type ConcurrencyKeyUsage,
  listWaitingConcurrencyKeys,
  readConcurrencyKeyUsages,
  readQueuedStandingRuns,
  skipLateStandingRuns,
} from "@svc/db/standing/concurrency-keys";
import type { StandingRunRecord } from "@svc/db/standing/runs";
import type { StandingContext } from "../context.ts";
import type { TemplateValues } from "../definition/definition.ts";
import { isRunnable } from "../sources/source.ts";
import type { LoadedVersion } from "../versions.ts";
import { keyOf } from "./given.ts";
import type { LockedProgram } from "./load.ts";
import { type DueCandidate, givenOfOccurrence, givenOfWindow, isWanted, type Occurrence } from "./occurrence.ts";

/** A locked program for which svc decides now which runs start, together with its waiting and running runs. */
export type ProgramDue = LockedProgram & {
  /** Number of runs that were skipped because they waited longer than the program allows. */
  readonly late: number;
  /** The concurrency keys (runs with the same key follow one another) whose waiting runs are now checked, each with its unfinished runs. */
  readonly lanes: readonly ConcurrencyKeyUsage[];
  /**
   * Waiting runs that have a free slot for their concurrency key. Each run has its own version, which may be older than the program's
   * current version.
   */
  readonly waiting: readonly { readonly run: StandingRunRecord; readonly version: LoadedVersion }[];
  /** True if the schedule has more waiting runs than the list `waiting` contains. */
  readonly hasMore: boolean;
};

/** Maximum number of waiting runs of standing programs (schedules) that one transaction reads. */
const admittedMax = 200;

/** Returns everything that may start a run of the schedule now: due times, events, and API calls that start a run. */
export function candidatesOf({ sources, calls }: Pick<LockedProgram, "sources" | "calls">): readonly DueCandidate[] {
  return [...sources.flatMap(({ candidates }) => candidates), ...calls];
}

/**
 * True if a run of the program may start now, because a queued run, a group of events, an API call or a source (time, event, row) is due.
 */
export function isAnythingDue({ waiting, closing, calls, sources }: ProgramDue): boolean {
  return waiting.length + closing.length + calls.length > 0 || sources.some(({ isDue }) => isDue);
}

/**
 * Reads for each schedule the queued runs that may start now, and the open runs with the same concurrency keys. First skips queued runs
 * that have waited too long. Queued runs that cannot start are not read, so a long queue costs no time.
 */
export async function withWaiting(
  { versions }: StandingContext,
  tx: Executor,
  dues: readonly LockedProgram[],
  nowMs: number,
): Promise<ProgramDue[]> {
  const admitted = dues.filter(({ isAdmitted, program }) => isAdmitted && program.deletedAt === null);
  const late = await skipLate(tx, admitted, nowMs);
  const runnable = admitted.filter(({ program }) => isRunnable(program));
  const waitingLanes = await listWaitingConcurrencyKeys(
    tx,
    runnable.map(({ program }) => program.id),
  );
  const lanes = await readLanes(tx, dues, waitingLanes);
  const maxOf = new Map(runnable.map(({ program, version }) => [program.id, version.definition.overlap.max]));
  const isWaiting = new Set(waitingLanes.map(nameOf));
  const { taken, left } = lanesWithRoom(
    lanes.filter((lane) => isWaiting.has(nameOf(lane))),
    maxOf,
  );
  const runs = await readQueuedStandingRuns(tx, taken);
  const versionOf = await versions.get(tx, runs);
  const waiting = Map.groupBy(runs, ({ programId }) => programId);
  const lanesOf = Map.groupBy(lanes, ({ programId }) => programId);
  return dues.map((due) => {
    const { id } = due.program;
    const own = (waiting.get(id) ?? []).map((run) => ({ run, version: versionOf(run) }));
    return { ...due, late: late.get(id) ?? 0, lanes: lanesOf.get(id) ?? [], waiting: own, hasMore: left.has(id) };
  });
}

/** Skips runs that waited longer than their program allows. Returns the number of skipped runs by program. */
async function skipLate(
  tx: Executor,
  admitted: readonly LockedProgram[],
  nowMs: number,
): Promise<ReadonlyMap<StandingProgramId, number>> {
  const bounds = admitted.flatMap(({ program: { id: programId, state }, version: { definition } }) => {
    return state === "paused" ? [] : [{ programId, beforeMs: nowMs - definition.overlap.queueForMs }];
  });
  const counts = new Map<StandingProgramId, number>();
  for (const id of await skipLateStandingRuns(tx, bounds, nowMs)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** Reads the open runs that have the same concurrency keys as new or waiting runs. */
async function readLanes(
  tx: Executor,
  dues: readonly LockedProgram[],
  waiting: readonly ConcurrencyKey[],
): Promise<ConcurrencyKeyUsage[]> {
  const wanted = new Map<string, ConcurrencyKey & { readonly most: number }>();
  const want = (name: ConcurrencyKey, queueMax: number) => {
    // Some waiting runs may start before the length of the queue is checked. So up to `queueMax + admittedMax` runs are read.
    const most = Math.max(wanted.get(nameOf(name))?.most ?? 0, queueMax + admittedMax);
    wanted.set(nameOf(name), { ...name, most });
  };
  for (const lane of waiting) want(lane, 0);
  for (const due of dues) {
    const { id: programId } = due.program;
    for (const { lane, version } of lanesDecided(due)) want({ programId, lane }, version.definition.overlap.queueMax);
  }
  return readConcurrencyKeyUsages(tx, [...wanted.values()]);
}

type LaneDecided = { readonly lane: string; readonly version: LoadedVersion };

/** Returns the concurrency keys of the runs that a schedule's new due times or events would start. */
function lanesDecided(due: LockedProgram): LaneDecided[] {
  const started = candidatesOf(due).filter((one) => isWanted(one) && !isCollected(one.occurrence, one.version));
  return [
    ...started.flatMap(({ occurrence, version }) => laneOf(version, () => givenOfOccurrence(occurrence, version))),
    ...due.closing.flatMap((window) => laneOf(window.version, () => givenOfWindow(window))),
  ];
}

/**
 * Returns a list with the concurrency key of a new run. The list is empty if the key's template cannot be filled in, because such a run is
 * refused.
 */
function laneOf(version: LoadedVersion, given: () => TemplateValues): LaneDecided[] {
  const { key } = version.definition.overlap;
  const lane = key === undefined ? { text: "" } : keyOf(key, given());
  return "fault" in lane ? [] : [{ lane: lane.text, version }];
}

function nameOf({ programId, lane }: ConcurrencyKey): string {
  return `${programId} ${lane}`;
}

/**
 * Selects the concurrency keys (runs with the same key follow one another) under which waiting runs may start now. `taken`: the selected
 * keys, up to a maximum for one transaction. `left`: the programs that have more runs which may start.
 */
function lanesWithRoom(
  lanes: readonly ConcurrencyKeyUsage[],
  maxOf: ReadonlyMap<StandingProgramId, number>,
): { readonly taken: ConcurrencyKeySlots[]; readonly left: ReadonlySet<StandingProgramId> } {
  const taken: ConcurrencyKeySlots[] = [];
  const left = new Set<StandingProgramId>();
  let count = 0;
  for (const { programId, lane, started, queued } of lanes) {
    const room = Math.min(queued, (maxOf.get(programId) ?? 0) - started);
    if (room <= 0) continue;
    const granted = Math.min(room, admittedMax - count);
    if (granted < room) left.add(programId);
    if (granted > 0) taken.push({ programId, lane, room: granted });
    count += granted;
  }
  return { taken, left };
}

/** True if a due event is added to a collect window. False if svc decides about it at once. */
function isCollected({ kind, event }: Occurrence, { definition }: Pick<LoadedVersion, "definition">): boolean {
  return kind !== "hand" && definition.collect !== undefined && event !== undefined;
}
