import type { Id } from "@svc/core";
import type { Limits } from "@svc/program";
import type { LimitName } from "../state/change.ts";

/** The most that one child uses of its parent's limits. Those of its own running children are counted separately. */
export type ChildLimits = Pick<Limits, LimitName>;

const limitNames = ["toolCalls", "writes", "rows", "asks"] as const satisfies readonly LimitName[];

/**
 * The shared use of a job's limits by its branches. It belongs to one driver, which makes it from the job as read. Step actions see there
 * what others took before that is part of the job.
 */
export class SharedLimits {
  /** The job's use, with what calls, rows and questions took since. The use of children is added at their end. */
  readonly own: { -readonly [Name in LimitName]: number };
  /** Number of branches. */
  readonly branches: number;
  readonly #limits: Limits;
  /** What running children may use. */
  readonly #held = new Map<Id<"job">, ChildLimits>();

  constructor(limits: Limits, used: ChildLimits, branches: number) {
    const { toolCalls, writes, rows, asks } = used;
    this.own = { toolCalls, writes, rows, asks };
    this.branches = branches;
    this.#limits = limits;
  }

  /** True if any child is running whose end may return some of it. */
  get isHeld(): boolean {
    return this.#held.size > 0;
  }

  /** Reserves what a child may use. */
  hold(id: Id<"job">, room: ChildLimits): void {
    this.#held.set(id, room);
  }

  /** Releases what was reserved for a child that was never begun. */
  release(id: Id<"job">): void {
    this.#held.delete(id);
  }

  /** Takes back the use of an ended child that continues. It is counted at its next end. */
  giveBack(used: ChildLimits): void {
    for (const name of limitNames) this.own[name] -= used[name];
  }

  /** Adds the use of an ended child. The rest of its reservation is returned. */
  take({ id, used }: { readonly id: Id<"job">; readonly used: ChildLimits }): void {
    if (!this.#held.delete(id)) return;
    for (const name of limitNames) this.own[name] += used[name];
  }

  /** Returns what is left of the limits besides what running children may use. */
  room(): ChildLimits {
    const left = (name: LimitName) => Math.max(0, this.#left(name));
    return { toolCalls: left("toolCalls"), writes: left("writes"), rows: left("rows"), asks: left("asks") };
  }

  /** True if nothing is left of a limit now, and the end of a child may return some. */
  isFullForNow(name: LimitName): boolean {
    return this.#left(name) <= 0 && this.own[name] < this.#limits[name];
  }

  #left(name: LimitName): number {
    const held = [...this.#held.values()].reduce((sum, room) => sum + room[name], 0);
    return this.#limits[name] - this.own[name] - held;
  }
}
