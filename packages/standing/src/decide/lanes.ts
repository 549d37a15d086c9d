import type { Id, StandingRunId } from "@svc/core";
import type { StandingLane } from "@svc/db/standing/lanes";
import type { LaneFacts } from "./verdict.ts";

type Lane = { started: number; queued: number; jobIds: Id<"job">[]; newestQueued: StandingRunId | null };

/** What is open in those lanes of a program that are decided about: as the store had it, and as decisions change it. */
export class Lanes {
  readonly #lanes: Map<string, Lane>;

  constructor(lanes: readonly StandingLane[]) {
    this.#lanes = new Map(
      lanes.map(({ lane, started, queued, jobIds, newestQueued }) => {
        return [lane, { started, queued, jobIds: [...jobIds], newestQueued }];
      }),
    );
  }

  /** What is open in a lane. */
  of(name: string): LaneFacts {
    return this.#of(name);
  }

  /** A run waits from now on. */
  queue(name: string, id: StandingRunId): void {
    const lane = this.#of(name);
    lane.queued++;
    lane.newestQueued = id;
  }

  /** A run waits no more. */
  leave(name: string, id: StandingRunId): void {
    const lane = this.#of(name);
    lane.queued--;
    if (lane.newestQueued === id) lane.newestQueued = null;
  }

  /** A job is under way from now on. */
  start(name: string, jobId: Id<"job">): void {
    const lane = this.#of(name);
    lane.started++;
    lane.jobIds.push(jobId);
  }

  #of(name: string): Lane {
    const lane = this.#lanes.get(name);
    // Nothing is known of one that was not read, which is not the same as that nothing is open in it.
    if (lane === undefined) throw new Error(`lane ${JSON.stringify(name)} was not read`);
    return lane;
  }
}
