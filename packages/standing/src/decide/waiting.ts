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
import { keyOf } from "./given.ts";
import { givenOfOccurrence, givenOfWindow, type Occurrence } from "./occurrence.ts";
import type { TemplateValues } from "../definition/definition.ts";
import type { LoadedVersion } from "../versions.ts";
import type { StandingContext } from "../context.ts";
import { candidatesOf, isWanted, type ProgramDue } from "../prepare/due.ts";

/** What of a program is due, before anything is known of what is open of it. */
export type FreshDue = Omit<ProgramDue, "late" | "lanes" | "waiting" | "hasMore">;

/** Waiting runs that one transaction looks at. */
const admittedMax = 200;

/**
 * Leaves out what waits for too long, and reads what is open in the lanes that are decided about, with the runs that may start now. What
 * else waits, however much it is, is not read.
 */
export async function withWaiting(
  { versions }: StandingContext,
  tx: Executor,
  dues: readonly FreshDue[],
  nowMs: number,
): Promise<ProgramDue[]> {
  const admitted = dues.filter(({ isAdmitted, program }) => isAdmitted && program.deletedAt === null);
  const late = await skipLate(tx, admitted, nowMs);
  const standing = admitted.filter(({ program: { state } }) => state === "active" || state === "ended");
  const waitingLanes = await listWaitingConcurrencyKeys(
    tx,
    standing.map(({ program }) => program.id),
  );
  const lanes = await readLanes(tx, dues, waitingLanes);
  const maxOf = new Map(standing.map(({ program, version }) => [program.id, version.definition.overlap.max]));
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

/** Leaves out what waits for longer than its program allows; answers how much of each program. */
async function skipLate(
  tx: Executor,
  admitted: readonly FreshDue[],
  nowMs: number,
): Promise<ReadonlyMap<StandingProgramId, number>> {
  const bounds = admitted.flatMap(({ program: { id: programId, state }, version: { definition } }) => {
    return state === "paused" ? [] : [{ programId, beforeMs: nowMs - definition.overlap.queueForMs }];
  });
  const counts = new Map<StandingProgramId, number>();
  for (const id of await skipLateStandingRuns(tx, bounds, nowMs)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** What is open in the lanes of everything that is new, and in those where runs wait. */
async function readLanes(
  tx: Executor,
  dues: readonly FreshDue[],
  waiting: readonly ConcurrencyKey[],
): Promise<ConcurrencyKeyUsage[]> {
  const wanted = new Map<string, ConcurrencyKey & { readonly most: number }>();
  const want = (name: ConcurrencyKey, queueMax: number) => {
    // Some of those that wait may leave before it is asked whether one more may wait.
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

/** In which lanes what is new of a program is decided about. */
function lanesDecided(due: FreshDue): LaneDecided[] {
  const started = candidatesOf(due).filter((one) => isWanted(one) && !isCollected(one.occurrence, one.version));
  return [
    ...started.flatMap(({ occurrence, version }) => laneOf(version, () => givenOfOccurrence(occurrence, version))),
    ...due.closing.flatMap((window) => laneOf(window.version, () => givenOfWindow(window))),
  ];
}

/** None where the key cannot be told: such a run is refused. */
function laneOf(version: LoadedVersion, given: () => TemplateValues): LaneDecided[] {
  const { key } = version.definition.overlap;
  const lane = key === undefined ? { text: "" } : keyOf(key, given());
  return "fault" in lane ? [] : [{ lane: lane.text, version }];
}

function nameOf({ programId, lane }: ConcurrencyKey): string {
  return `${programId} ${lane}`;
}

/** In which lanes waiting runs are looked at, and which programs have more than that. */
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

/** Whether an occurrence goes into a window, and is decided about once that is over. */
function isCollected({ kind, event }: Occurrence, { definition }: Pick<LoadedVersion, "definition">): boolean {
  return kind !== "hand" && definition.collect !== undefined && event !== undefined;
}
