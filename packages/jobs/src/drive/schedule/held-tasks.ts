import type { Id, ProjectId } from "@svc/core";
import { isUnavailable } from "@svc/db/driver";
import { renewJobLeases } from "@svc/db/job-tasks/lease";
import { type ClaimedJobTask, releaseJobTasks } from "@svc/db/job-tasks/queue";
import type { JobTaskLease } from "@svc/db/job-tasks/task";
import type { EngineContext } from "../context.ts";
import type { Interrupts } from "../port.ts";

/** A task under way on this node, and what interrupts its driver. */
export type Held = {
  readonly task: ClaimedJobTask;
  /** The next lease that it loses would be the last. */
  isSuspect: boolean;
  readonly interrupts: { -readonly [Name in keyof Interrupts]: Interrupts[Name] };
};

/** Until a lease whose task is locked is tried again: commits take milliseconds. */
const lockedMs = 50;

/** What a node has under way. The leases of all of it are renewed in one statement. */
export class HeldTasks {
  readonly #context: Pick<EngineContext, "db" | "clock" | "limits" | "observer">;
  readonly #held = new Map<string, Held>();

  constructor(context: Pick<EngineContext, "db" | "clock" | "limits" | "observer">) {
    this.#context = context;
  }

  get count(): number {
    return this.#held.size;
  }

  add(held: Held): void {
    this.#held.set(keyOf(held.task), held);
  }

  /** Forgets it, unless the same task has been claimed anew since. */
  delete(held: Held): void {
    const key = keyOf(held.task);
    if (this.#held.get(key) === held) this.#held.delete(key);
  }

  hasSuspect(): boolean {
    return [...this.#held.values()].some(({ isSuspect }) => isSuspect);
  }

  /** Tells every driver to begin nothing more. */
  stopAll(): void {
    for (const { interrupts } of this.#held.values()) interrupts.isStopping = true;
  }

  /** Tells the driver of a job that it is to be cancelled. */
  cancel(jobId: Id<"job">): void {
    this.#interrupt(jobId, "isCancelSeen");
  }

  /** Tells the driver of a job that it is to be paused. */
  pause(jobId: Id<"job">): void {
    this.#interrupt(jobId, "isPauseSeen");
  }

  /** Tells the driver of a job that it was taken from this node: it begins nothing more. */
  stop(jobId: Id<"job">): void {
    this.#interrupt(jobId, "isStopping");
  }

  #interrupt(jobId: Id<"job">, why: "isCancelSeen" | "isPauseSeen" | "isStopping"): void {
    for (const { task, interrupts } of this.#held.values()) {
      if (task.jobId === jobId && task.kind === "run") interrupts[why] = true;
    }
  }

  /**
   * Gives back what did not end in time, so that nobody waits for its lease to run out, nor counts it as lost. A driver that comes to a
   * commit after this finds its lease gone; what it called is in the ledger.
   */
  async release(): Promise<void> {
    const { db, clock, observer } = this.#context;
    const left = [...this.#held.values()].map(({ task }) => task);
    try {
      await releaseJobTasks(db, left, clock.now());
    } catch (error) {
      if (!isUnavailable(error)) observer.failed("task", error);
    }
  }

  /** Renews the leases of all of it, three times in each, until `stopped`. */
  async renewUntil(stopped: AbortSignal): Promise<void> {
    const { clock, limits } = this.#context;
    for (;;) {
      await clock.wait(limits.leaseMs / 3, stopped);
      if (stopped.aborted) return;
      await this.#renew(stopped);
    }
  }

  /** Renews what is held. What somebody has locked at the moment is tried again, until the next renewal is due. */
  async #renew(stopped: AbortSignal): Promise<void> {
    const { clock, limits, observer } = this.#context;
    const endMs = clock.now() + limits.leaseMs / 3;
    let left = [...this.#held.values()];
    while (left.length > 0) {
      try {
        left = await this.#renewed(left);
      } catch (error) {
        observer.failed("renew", error);
        return;
      }
      if (left.length > 0) await clock.wait(lockedMs, stopped);
      if (clock.now() >= endMs || stopped.aborted) return;
      left = left.filter((held) => this.#held.get(keyOf(held.task)) === held);
    }
  }

  /** Renews leases; answers those whose tasks are locked. */
  async #renewed(all: readonly Held[]): Promise<Held[]> {
    const { db, clock, limits } = this.#context;
    const leases = all.map(({ task }) => task);
    const found = await renewJobLeases(db, leases, clock.now() + limits.leaseMs);
    const renewed = new Map(found.map((lease) => [keyOf(lease), lease]));
    return all.filter(({ task, interrupts }) => {
      const lease = renewed.get(keyOf(task));
      if (lease?.isCancelled === true && task.kind === "run") this.cancel(task.jobId);
      if (lease?.isPaused === true && task.kind === "run") this.pause(task.jobId);
      // Lost: what it would still do is another node's to do, and its next commit will be refused.
      if (lease === undefined) interrupts.isStopping = true;
      return lease?.isRenewed === false;
    });
  }
}

function keyOf({ jobId, kind, subject }: JobTaskLease): string {
  return `${jobId}/${kind}/${subject}`;
}

/**
 * The places of a node for work that is under way, and which project has how many. With n projects at work the (n + 1)th part is each
 * one's share, at least one place; a lone project gets everything but one place, which a newcomer finds free.
 */
export class Places {
  readonly #max: number;
  readonly #used = new Map<ProjectId, number>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  get free(): number {
    return this.#max - this.#taken;
  }

  /** How many a project may have now. */
  get share(): number {
    const projects = this.#used.size;
    return Math.max(1, projects <= 1 ? this.#max - 1 : Math.floor(this.#max / (projects + 1)));
  }

  /** Projects that have their share. */
  fullProjects(): ReadonlySet<ProjectId> {
    const { share } = this;
    return new Set([...this.#used].filter(([, count]) => count >= share).map(([id]) => id));
  }

  /** Whether a project may have one more. */
  hasRoomFor(project: ProjectId): boolean {
    return this.free > 0 && (this.#used.get(project) ?? 0) < this.share;
  }

  take(project: ProjectId): void {
    this.#taken += 1;
    this.#used.set(project, (this.#used.get(project) ?? 0) + 1);
  }

  leave(project: ProjectId): void {
    this.#taken -= 1;
    const left = (this.#used.get(project) ?? 0) - 1;
    if (left > 0) this.#used.set(project, left);
    else this.#used.delete(project);
  }
}
