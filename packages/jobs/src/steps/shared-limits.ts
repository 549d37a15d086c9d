import type { Id } from "@svc/core";
import type { Limits } from "@svc/program";
import type { LimitName } from "../state/change.ts";

/** What a child uses at most at once, of the limits that are the parent's: those of the children under way are another's. */
export type ChildLimits = Pick<Limits, LimitName>;

const limitNames = ["toolCalls", "writes", "rows", "asks"] as const satisfies readonly LimitName[];

/**
 * What the branches of a job take of its limits beside each other. It belongs to one driver, which makes it of the job as it was read:
 * acts see there what others took that is no part of the job yet.
 */
export class SharedLimits {
  /** What the job had used, and what calls, rows and questions took since: those of children once their ends are taken. */
  readonly own: { -readonly [Name in LimitName]: number };
  /** How many branches there are. */
  readonly branches: number;
  readonly #limits: Limits;
  /** What children under way may use. */
  readonly #held = new Map<Id<"job">, ChildLimits>();

  constructor(limits: Limits, used: ChildLimits, branches: number) {
    const { toolCalls, writes, rows, asks } = used;
    this.own = { toolCalls, writes, rows, asks };
    this.branches = branches;
    this.#limits = limits;
  }

  /** Whether any child is under way, whose end may give something back. */
  get isHeld(): boolean {
    return this.#held.size > 0;
  }

  /** Keeps for a child what it may use. */
  hold(id: Id<"job">, room: ChildLimits): void {
    this.#held.set(id, room);
  }

  /** The child was never begun. */
  release(id: Id<"job">): void {
    this.#held.delete(id);
  }

  /** A child that ended goes on: what it used is counted at its next end. */
  giveBack(used: ChildLimits): void {
    for (const name of limitNames) this.own[name] -= used[name];
  }

  /** Takes what a child used that has ended; the rest is given back. */
  take({ id, used }: { readonly id: Id<"job">; readonly used: ChildLimits }): void {
    if (!this.#held.delete(id)) return;
    for (const name of limitNames) this.own[name] += used[name];
  }

  /** What is left of the limits beside what children under way may use. */
  room(): ChildLimits {
    const left = (name: LimitName) => Math.max(0, this.#left(name));
    return { toolCalls: left("toolCalls"), writes: left("writes"), rows: left("rows"), asks: left("asks") };
  }

  /** Whether nothing is left of a limit for now: the end of a child may give something back. */
  isFullForNow(name: LimitName): boolean {
    return this.#left(name) <= 0 && this.own[name] < this.#limits[name];
  }

  #left(name: LimitName): number {
    const held = [...this.#held.values()].reduce((sum, room) => sum + room[name], 0);
    return this.#limits[name] - this.own[name] - held;
  }
}
