import type { Id, ProjectId } from "@svc/core";
import { isUnavailable } from "@svc/db/driver";
import { renewJobLeases } from "@svc/db/job-tasks/lease";
import { type ClaimedJobTask, releaseJobTasks } from "@svc/db/job-tasks/queue";
import type { JobTaskLease } from "@svc/db/job-tasks/task";
import type { EngineContext } from "../context.ts";
import type { Interrupts } from "../port.ts";

/**
 * A task that this node is running, and the flags by which the job's driver (the loop that runs its steps) learns of requests to stop,
 * pause or cancel.
 */
export type HeldTask = {
  readonly task: ClaimedJobTask;
  /** True if earlier nodes failed while they ran this job. svc parks the job if one more node fails. */
  isSuspect: boolean;
  readonly interrupts: { -readonly [Name in keyof Interrupts]: Interrupts[Name] };
};

/**
 * Pause before a node tries again to renew the lease (the time in which only one node works on a task) of a locked task, in milliseconds.
 * The lock usually belongs to a commit, which takes milliseconds.
 */
const lockedMs = 50;

/** The running tasks of a node. One statement renews all their leases (the node's time-limited rights to them). */
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

  /** Removes a task that this node no longer runs. If the node has claimed the same task again, the new entry stays. */
  delete(held: HeldTask): void {
    const key = keyOf(held.task);
    if (this.#held.get(key) === held) this.#held.delete(key);
  }

  hasSuspect(): boolean {
    return [...this.#held.values()].some(({ isSuspect }) => isSuspect);
  }

  /** Requests that all jobs on this node stop after their present part of work. */
  stopAll(): void {
    for (const { interrupts } of this.#held.values()) interrupts.isStopping = true;
  }

  /** Notifies the driver (the loop that runs one job's steps) that its job is to be cancelled. */
  cancel(jobId: Id<"job">): void {
    this.#interrupt(jobId, "isCancelSeen");
  }

  /** Notifies the driver of a job (the code that runs its steps) that the job is to be paused. */
  pause(jobId: Id<"job">): void {
    this.#interrupt(jobId, "isPauseSeen");
  }

  /** Makes this node stop its work on a job, because another node or an administrator has taken the job. */
  stop(jobId: Id<"job">): void {
    this.#interrupt(jobId, "isStopping");
  }

  #interrupt(jobId: Id<"job">, why: "isCancelSeen" | "isPauseSeen" | "isStopping"): void {
    for (const { task, interrupts } of this.#held.values()) {
      if (task.jobId === jobId && task.kind === "run") interrupts[why] = true;
    }
  }

  /**
   * Called at the end of a shutdown. Gives back all tasks that still run, so that other nodes can take them at once. The tasks do not count
   * as lost. If the code that runs such a task still commits, the database refuses the commit. The tool calls of the task are already
   * recorded.
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

  /**
   * Renews all leases (the node's time-limited rights to its tasks), three times within the duration of a lease. Ends when the signal
   * `stopped` aborts.
   */
  async renewUntil(stopped: AbortSignal): Promise<void> {
    const { clock, limits } = this.#context;
    for (;;) {
      await clock.wait(limits.leaseMs / 3, stopped);
      if (stopped.aborted) return;
      await this.#renew(stopped);
    }
  }

  /**
   * Renews all leases (time-limited rights to tasks) of this node. If a task's row is locked, tries again until the next renewal is due.
   */
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

  /**
   * Renews the leases (this node's time-limited rights) of these tasks. Returns the tasks that are not renewed because their rows are
   * locked.
   */
  async #renewed(all: readonly HeldTask[]): Promise<HeldTask[]> {
    const { db, clock, limits } = this.#context;
    const leases = all.map(({ task }) => task);
    const found = await renewJobLeases(db, leases, clock.now() + limits.leaseMs);
    const renewed = new Map(found.map((lease) => [keyOf(lease), lease]));
    return all.filter(({ task, interrupts }) => {
      const lease = renewed.get(keyOf(task));
      if (lease?.isCancelled === true && task.kind === "run") this.cancel(task.jobId);
      if (lease?.isPaused === true && task.kind === "run") this.pause(task.jobId);
      // The lease is lost. Another node does the remaining work, and the next commit on this node is refused.
      if (lease === undefined) interrupts.isStopping = true;
      return lease?.isRenewed === false;
    });
  }
}

function keyOf({ jobId, kind, subject }: JobTaskLease): string {
  return `${jobId}/${kind}/${subject}`;
}

/**
 * Counts the slots of a node for running tasks, in total and per project. With n active projects, each may use 1/(n + 1) of the slots, and
 * at least one slot. A single active project leaves one slot free for a new project.
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

  /** Maximum number of slots that each project may use now. */
  get share(): number {
    const projects = this.#used.size;
    return Math.max(1, projects <= 1 ? this.#max - 1 : Math.floor(this.#max / (projects + 1)));
  }

  /** Returns the projects that already use as many slots of this node as their share allows. */
  fullProjects(): ReadonlySet<ProjectId> {
    const { share } = this;
    return new Set([...this.#used].filter(([, count]) => count >= share).map(([id]) => id));
  }

  /** True if the node has a free slot (right to run one job) and the project uses fewer slots than its share. */
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
