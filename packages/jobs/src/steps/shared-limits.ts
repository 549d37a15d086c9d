import type { Id } from "@svc/core";
import type { Limits } from "@svc/program";
import type { LimitName } from "../state/change.ts";

/** The maximum that one child may use of its parent's limits. The child's own running children are counted separately. */
export type ChildLimits = Pick<Limits, LimitName>;

const limitNames = ["toolCalls", "writes", "rows", "asks"] as const satisfies readonly LimitName[];

/**
 * The use of a job's limits that its branches share. It belongs to one driver, which creates it from the stored job. It shows each step
 * action what other branches have taken, before that use is part of the job.
 */
export class SharedLimits {
  /** The job's stored use, plus what calls, rows and questions have taken since. The use of children is added when they end. */
  readonly own: { -readonly [Name in LimitName]: number };
  /** Number of branches. */
  readonly branches: number;
  readonly #limits: Limits;
  /** Reservations of the running children. */
  readonly #held = new Map<Id<"job">, ChildLimits>();

  constructor(limits: Limits, used: ChildLimits, branches: number) {
    const { toolCalls, writes, rows, asks } = used;
    this.own = { toolCalls, writes, rows, asks };
    this.branches = branches;
    this.#limits = limits;
  }

  /** True if a child is running. Its end may give a part of its reservation back. */
  get isHeld(): boolean {
    return this.#held.size > 0;
  }

  /** Reserves for a child the part of the limits that it may use. */
  hold(id: Id<"job">, room: ChildLimits): void {
    this.#held.set(id, room);
  }

  /** Releases the reservation of a child that never began. */
  release(id: Id<"job">): void {
    this.#held.delete(id);
  }

  /** Subtracts the use of an ended child that continues. That use is counted again when the child ends. */
  giveBack(used: ChildLimits): void {
    for (const name of limitNames) this.own[name] -= used[name];
  }

  /** Adds the use of an ended child and releases its reservation. */
  take({ id, used }: { readonly id: Id<"job">; readonly used: ChildLimits }): void {
    if (!this.#held.delete(id)) return;
    for (const name of limitNames) this.own[name] += used[name];
  }

  /** Returns what is left of the limits after subtracting the job's use and the reservations of running children. */
  room(): ChildLimits {
    const left = (name: LimitName) => Math.max(0, this.#left(name));
    return { toolCalls: left("toolCalls"), writes: left("writes"), rows: left("rows"), asks: left("asks") };
  }

  /** True if nothing is left of a limit now, but the end of a child may give some back. */
  isFullForNow(name: LimitName): boolean {
    return this.#left(name) <= 0 && this.own[name] < this.#limits[name];
  }

  #left(name: LimitName): number {
    const held = [...this.#held.values()].reduce((sum, room) => sum + room[name], 0);
    return this.#limits[name] - this.own[name] - held;
  }
}
