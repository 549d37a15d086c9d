import type { StandingProgramId } from "@svc/core";
import {
  type Executor,
  type LaneRoom,
  readQueuedStandingRuns,
  readStandingLanes,
  type StandingLane,
  type StandingProgramRecord,
  skipLateStandingRuns,
} from "@svc/db";
import type { LoadedVersion } from "../versions.ts";
import type { StandingContext } from "./context.ts";
import type { ProgramDue } from "./due.ts";

type Loading = {
  /** Locked programs that something is due of. */
  readonly at: readonly StandingProgramRecord[];
  readonly today: ReadonlyMap<StandingProgramId, LoadedVersion>;
  /** Those of them whose waiting runs are looked at. */
  readonly admitted: readonly StandingProgramRecord[];
  readonly nowMs: number;
};

/** What waits of programs, by program. */
export type Waiting = {
  /** How many runs were left out, since they waited for too long. */
  readonly late: ReadonlyMap<StandingProgramId, number>;
  readonly lanes: ReadonlyMap<StandingProgramId, readonly StandingLane[]>;
  /** Runs that are looked at. */
  readonly waiting: ReadonlyMap<StandingProgramId, ProgramDue["waiting"]>;
  /** Programs of which more could start than is looked at. */
  readonly left: ReadonlySet<StandingProgramId>;
};

/** Waiting runs that one transaction looks at. */
const admittedMax = 200;

/** Leaves out what waits for too long, and reads what is open of programs and the runs that may start now. */
export async function loadWaiting({ versions }: StandingContext, tx: Executor, loading: Loading): Promise<Waiting> {
  const { at, today, admitted } = loading;
  const late = await skipLate(tx, loading);
  const ids = at.map(({ id }) => id);
  const lanes = Map.groupBy(await readStandingLanes(tx, ids), ({ programId }) => programId);
  const standing = admitted.filter(({ state }) => state === "active" || state === "ended");
  const { taken, left } = lanesWithRoom(
    standing.flatMap(({ id }) => lanes.get(id) ?? []),
    today,
  );
  const runs = await readQueuedStandingRuns(tx, taken);
  const versionOf = await versions.get(tx, runs);
  const waiting = runs.map((run) => ({ run, version: versionOf(run) }));
  return { late, lanes, waiting: Map.groupBy(waiting, ({ run }) => run.programId), left };
}

/** Leaves out what waits for longer than its program allows; answers how much of each program. */
async function skipLate(
  tx: Executor,
  { today, admitted, nowMs }: Loading,
): Promise<ReadonlyMap<StandingProgramId, number>> {
  const asked = admitted.filter(({ state }) => state !== "paused");
  const bounds = asked.map(({ id: programId }) => {
    const { queueForMs } = versionOf(today, programId).definition.overlap;
    return { programId, beforeMs: nowMs - queueForMs };
  });
  const counts = new Map<StandingProgramId, number>();
  for (const id of await skipLateStandingRuns(tx, bounds, nowMs)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** In which lanes waiting runs are looked at, and which programs have more than that. */
function lanesWithRoom(
  lanes: readonly StandingLane[],
  today: Loading["today"],
): { readonly taken: LaneRoom[]; readonly left: ReadonlySet<StandingProgramId> } {
  const taken: LaneRoom[] = [];
  const left = new Set<StandingProgramId>();
  let count = 0;
  for (const { programId, lane, started, queued } of lanes) {
    const room = Math.min(queued, versionOf(today, programId).definition.overlap.max - started);
    if (room <= 0) continue;
    const granted = Math.min(room, admittedMax - count);
    if (granted < room) left.add(programId);
    if (granted > 0) taken.push({ programId, lane, room: granted });
    count += granted;
  }
  return { taken, left };
}

function versionOf(today: Loading["today"], id: StandingProgramId): LoadedVersion {
  const version = today.get(id);
  if (version === undefined) throw new Error(`standing program ${id} is not in its batch`);
  return version;
}
