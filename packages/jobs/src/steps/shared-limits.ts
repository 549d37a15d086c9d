import type { Id } from "@svc/core";
import type { Limits } from "@svc/program";
import type { LimitName } from "../state/change.ts";

/**
 * The most that one child job may use of each limit of its parent job, for example of tool calls. The use by the child's own children is
 * included.
 */
export type ChildLimits = Pick<Limits, LimitName>;

const limitNames = ["toolCalls", "writes", "rows", "asks"] as const satisfies readonly LimitName[];

/**
 * Counts how much of the job's limits its parallel branches have used together. Each branch sees at once what the others used, even before
 * it is stored. The node that runs the job creates this object from the stored job.
 */
export class SharedLimits {
  /**
   * The usage of the job's limits: the stored usage, and the calls, rows and questions that are not stored yet. The usage of a child job is
   * added when the child ends.
   */
  readonly own: { -readonly [Name in LimitName]: number };
  /** Number of branches of the job that share these limits. */
  readonly branches: number;
  readonly #limits: Limits;
  /** The parts of the limits that running children have reserved, by child. */
  readonly #held = new Map<Id<"job">, ChildLimits>();

  constructor(limits: Limits, used: ChildLimits, branches: number) {
    const { toolCalls, writes, rows, asks } = used;
    this.own = { toolCalls, writes, rows, asks };
    this.branches = branches;
    this.#limits = limits;
  }

  /**
   * True if a child job is running. Each running child reserves a part of the job's limits (for example of its tool calls). When the child
   * ends, the unused rest of this reservation is free again.
   */
  get isHeld(): boolean {
    return this.#held.size > 0;
  }

  /** Reserves, for a child job, the part of the limits that it may use. */
  hold(id: Id<"job">, room: ChildLimits): void {
    this.#held.set(id, room);
  }

  /** Removes the reservation of limits (for example of tool calls) that a child job holds. Used if the child job never began. */
  release(id: Id<"job">): void {
    this.#held.delete(id);
  }

  /**
   * Subtracts what an ended child job has used from this job's use. Called before the child is retried, because the limits of the retry
   * include what the child has already used.
   */
  giveBack(used: ChildLimits): void {
    for (const name of limitNames) this.own[name] -= used[name];
  }

  /**
   * Adds the calls, writes, rows and questions that an ended child job has used to the use of this job. Also removes the amounts that were
   * reserved for this child. Does nothing if the child has no reservation.
   */
  take({ id, used }: { readonly id: Id<"job">; readonly used: ChildLimits }): void {
    if (!this.#held.delete(id)) return;
    for (const name of limitNames) this.own[name] += used[name];
  }

  /** Returns what is left of the limits after subtracting the job's use and the reservations of running children. */
  room(): ChildLimits {
    const left = (name: LimitName) => Math.max(0, this.#left(name));
    return { toolCalls: left("toolCalls"), writes: left("writes"), rows: left("rows"), asks: left("asks") };
  }

  /**
   * True if the job can use nothing more of a limit now, but may be able to later. This is possible because running child jobs may end
   * without using all that is reserved for them. False if something is left now, or if the job itself has used the whole limit.
   */
  isFullForNow(name: LimitName): boolean {
    return this.#left(name) <= 0 && this.own[name] < this.#limits[name];
  }

  #left(name: LimitName): number {
    const held = [...this.#held.values()].reduce((sum, room) => sum + room[name], 0);
    return this.#limits[name] - this.own[name] - held;
  }
}
