import type { Id, ProjectId } from "@svc/core";
import { isUnavailable } from "@svc/db/driver";
import { renewJobLeases } from "@svc/db/job-tasks/lease";
import { type ClaimedJobTask, releaseJobTasks } from "@svc/db/job-tasks/queue";
import type { JobTaskLease } from "@svc/db/job-tasks/task";
import type { EngineContext } from "../context.ts";
import type { Interrupts } from "../port.ts";

/** A running task of this node, with the requests to its driver. */
export type HeldTask = {
  readonly task: ClaimedJobTask;
  /** True if one more lost lease would be its last. */
  isSuspect: boolean;
  readonly interrupts: { -readonly [Name in keyof Interrupts]: Interrupts[Name] };
};

/** Pause before a lease with a locked task is tried again, in milliseconds. Commits take milliseconds. */
const lockedMs = 50;

/** The running tasks of a node. One statement renews all their leases. */
export class HeldTasks {
  readonly #context: Pick<EngineContext, "db" | "clock" | "limits" | "observer">;
  readonly #held = new Map<string, HeldTask>();

  constructor(context: Pick<EngineContext, "db" | "clock" | "limits" | "observer">) {
    this.#context = context;
  }

  get count(): number {
    return this.#held.size;
  }

  add(held: HeldTask): void {
    this.#held.set(keyOf(held.task), held);
  }

  /** Removes a task, unless it has been claimed again since. */
  delete(held: HeldTask): void {
    const key = keyOf(held.task);
    if (this.#held.get(key) === held) this.#held.delete(key);
  }

  hasSuspect(): boolean {
    return [...this.#held.values()].some(({ isSuspect }) => isSuspect);
  }

  /** Asks every driver to begin nothing more. */
  stopAll(): void {
    for (const { interrupts } of this.#held.values()) interrupts.isStopping = true;
  }

  /** Informs the driver of a job that it is to be cancelled. */
  cancel(jobId: Id<"job">): void {
    this.#interrupt(jobId, "isCancelSeen");
  }

  /** Informs the driver of a job that it is to be paused. */
  pause(jobId: Id<"job">): void {
    this.#interrupt(jobId, "isPauseSeen");
  }

  /** Informs the driver of a job that it was taken from this node. It begins nothing more. */
  stop(jobId: Id<"job">): void {
    this.#interrupt(jobId, "isStopping");
  }

  #interrupt(jobId: Id<"job">, why: "isCancelSeen" | "isPauseSeen" | "isStopping"): void {
    for (const { task, interrupts } of this.#held.values()) {
      if (task.jobId === jobId && task.kind === "run") interrupts[why] = true;
    }
  }

  /**
   * Gives back the tasks that did not end in time, so that no one waits for their leases, and none counts as lost. A driver that commits
   * after this finds its lease gone; its calls are in the ledger.
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

  /** Renews all leases, three times in each, until `stopped`. */
  async renewUntil(stopped: AbortSignal): Promise<void> {
    const { clock, limits } = this.#context;
    for (;;) {
      await clock.wait(limits.leaseMs / 3, stopped);
      if (stopped.aborted) return;
      await this.#renew(stopped);
    }
  }

  /** Renews the held leases. Those of locked tasks are tried again until the next renewal is due. */
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

  /** Renews leases. Returns the tasks that are locked. */
  async #renewed(all: readonly HeldTask[]): Promise<HeldTask[]> {
    const { db, clock, limits } = this.#context;
    const leases = all.map(({ task }) => task);
    const found = await renewJobLeases(db, leases, clock.now() + limits.leaseMs);
    const renewed = new Map(found.map((lease) => [keyOf(lease), lease]));
    return all.filter(({ task, interrupts }) => {
      const lease = renewed.get(keyOf(task));
      if (lease?.isCancelled === true && task.kind === "run") this.cancel(task.jobId);
      if (lease?.isPaused === true && task.kind === "run") this.pause(task.jobId);
      // Lost: another node does the remaining work, and the next commit here is refused.
      if (lease === undefined) interrupts.isStopping = true;
      return lease?.isRenewed === false;
    });
  }
}

function keyOf({ jobId, kind, subject }: JobTaskLease): string {
  return `${jobId}/${kind}/${subject}`;
}

/**
 * The slots of a node for running tasks, and their number for each project. With n active projects, each may have the (n + 1)th part, at
 * least one slot. A single project gets all slots but one, which a newcomer finds free.
 */
export class Slots {
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

  /** Number of slots that a project may have now. */
  get share(): number {
    const projects = this.#used.size;
    return Math.max(1, projects <= 1 ? this.#max - 1 : Math.floor(this.#max / (projects + 1)));
  }

  /** Returns the projects that have their share. */
  fullProjects(): ReadonlySet<ProjectId> {
    const { share } = this;
    return new Set([...this.#used].filter(([, count]) => count >= share).map(([id]) => id));
  }

  /** True if a project may have one more slot. */
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
