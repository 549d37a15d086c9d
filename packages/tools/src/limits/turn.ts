import type { LimitLane } from "./lanes.ts";
import { freeAgainAt, type Room } from "./pace.ts";

/** A call that wants to go. */
export type Waiting = {
  readonly lanes: readonly LimitLane[];
  /** Whether it takes places; else it only starts. */
  readonly holds: boolean;
  /** Whether it waits for its turn; else it only asks. */
  readonly isPatient: boolean;
};

/** What one round does in a lane: what there is room for, how many calls it let go, and how many wait on. */
export type Turn = { readonly lane: LimitLane; room: Room; began: number; wanted: number };

/** Between two looks at a lane whose places other nodes hold, milliseconds. */
export const pollMs = 25;

/** Takes a place in every lane of a call, where each has one; else notes which lack it. */
export function admit({ lanes, holds, isPatient }: Waiting, turns: ReadonlyMap<LimitLane, Turn>): boolean {
  const own = lanes.flatMap((lane) => turns.get(lane) ?? []);
  const lacking = own.filter((turn) => !hasRoom(turn, holds));
  if (lacking.length > 0) {
    for (const turn of lacking) if (isPatient) turn.wanted++;
    return false;
  }
  for (const turn of own) {
    const { places, starts } = turn.room;
    turn.room = { places: places - (holds ? 1 : 0), starts: starts - 1 };
    turn.began++;
    if (holds) turn.lane.held++;
  }
  return true;
}

/** Whether a lane has room for one more call. */
export function hasRoom(turn: Turn | undefined, holds: boolean): boolean {
  return turn !== undefined && turn.room.starts > 0 && (!holds || turn.room.places > 0);
}

/** Until when nothing can begin: a rate says so; what others hold is looked at soon again. */
export function fullUntil({ rules, known }: LimitLane, nowMs: number): number {
  const { rate } = rules;
  return Math.max(nowMs + pollMs, rate === undefined ? 0 : freeAgainAt(known?.pace?.window, rate, nowMs));
}

/** When all lanes may have room. */
export function latestOf(lanes: readonly LimitLane[]): number {
  return lanes.reduce((latest, { fullUntilMs }) => Math.max(latest, fullUntilMs), 0);
}
