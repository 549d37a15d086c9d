import type { Clock, ProjectId, SubscriptionId } from "@svc/core";
import { Lane, turnsOf } from "./lane.ts";

/** A lane that nothing used for so long is forgotten, and with it what was known of the endpoint's speed. */
const idleMs = 60_000;

/** The lanes of one node, by subscription. */
export class Lanes {
  readonly #lanes = new Map<SubscriptionId, Lane>();
  readonly #clock: Clock;
  readonly #concurrency: number;

  constructor(clock: Clock, concurrency: number) {
    this.#clock = clock;
    this.#concurrency = concurrency;
  }

  find(id: SubscriptionId): Lane | undefined {
    return this.#lanes.get(id);
  }

  /** The lane of a subscription, made when there is none, and in use from now. */
  of(id: SubscriptionId, projectId: ProjectId): Lane {
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      lane = new Lane(id, projectId);
      this.#lanes.set(id, lane);
    }
    lane.lastUsedMs = this.#clock.now();
    return lane;
  }

  /** Leases that would be taken for a subscription. */
  room(id: SubscriptionId): number {
    const lane = this.#lanes.get(id);
    return lane === undefined ? this.defaultRoom(false) : lane.room(this.#concurrency, this.#clock.now());
  }

  /** Leases that would be taken for a subscription nothing is known of. `behind`: of what paced replays queued. */
  defaultRoom(behind: boolean): number {
    return 2 * turnsOf(this.#concurrency, behind);
  }

  /**
   * Leases that may be claimed for the subscriptions of which this node knows more than the store: neither those with the
   * default room, nor idle ones of failing endpoints (the store's own word gives those a probe at most), nor those of
   * `fullProjects`. Forgets idle lanes first.
   */
  claimRooms(fullProjects: ReadonlySet<ProjectId>, behind = false): Map<SubscriptionId, number> {
    const nowMs = this.#clock.now();
    const rooms = new Map<SubscriptionId, number>();
    for (const [id, lane] of this.#lanes) {
      const isQuiet = lane.isIdle() && lane.unreportedFailures === 0;
      if (isQuiet && lane.lastUsedMs < nowMs - idleMs && !lane.isShut(nowMs)) this.#lanes.delete(id);
      // Whether a failing endpoint may be probed is the store's to say, for all nodes; here it is only not busy.
      if (fullProjects.has(lane.projectId) || (lane.isFailing && isQuiet)) continue;
      const room = lane.isFailing ? 0 : lane.room(this.#concurrency, nowMs, behind);
      if (room !== this.defaultRoom(behind)) rooms.set(id, room);
    }
    return rooms;
  }

  /** Empties every lane and returns what waited. */
  takeWaiting() {
    return [...this.#lanes.values()].flatMap((lane) => lane.takeWaiting());
  }
}
