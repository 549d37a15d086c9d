import type { PaceKey } from "@svc/db/call-limits/paces";
import { isIdle, isSame, type Lane, newLane } from "./lane.ts";
import type { PaceRules } from "./pace.ts";

/** One of the limits that a call is held to: what it is counted with, and what they are held to together. */
export type PacedKey = PaceKey & { readonly rules: PaceRules };

/** Lanes from which on idle ones are looked for. */
const lanesMin = 1_000;

/** The lanes that this node knows of. Those that are idle are forgotten when there are many, unless `isKept` says otherwise. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #isKept: (lane: Lane) => boolean;
  #prunesAt = lanesMin;

  constructor(isKept: (lane: Lane) => boolean) {
    this.#isKept = isKept;
  }

  /** The lane of a key, held to its rules from now on. */
  of({ rules, ...key }: PacedKey, nowMs: number): Lane {
    const id = JSON.stringify([key.projectId, key.limitName, key.key]);
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      this.#prune(nowMs);
      lane = newLane(key, rules);
      this.#lanes.set(id, lane);
    } else if (!isSame(lane.rules, rules)) {
      // A limit that was changed is asked anew.
      lane.rules = rules;
      lane.fullUntilMs = 0;
    }
    return lane;
  }

  #prune(nowMs: number): void {
    if (this.#lanes.size < this.#prunesAt) return;
    for (const [id, lane] of this.#lanes) {
      if (isIdle(lane, nowMs) && !this.#isKept(lane)) this.#lanes.delete(id);
    }
    this.#prunesAt = Math.max(lanesMin, 2 * this.#lanes.size);
  }
}
