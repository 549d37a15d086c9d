import type { Id, ProjectId } from "@svc/core";
import {
  type ClaimedJobTask,
  claimJobTasks,
  isUnavailable,
  type JobTaskKind,
  type JobTaskLease,
  releaseJobTasks,
  renewJobLeases,
} from "@svc/db";
import type { EngineContext } from "./context.ts";
import { drive, openRun } from "./drive.ts";
import { LeaseLostError, type Run } from "./run.ts";

/** Does the work of one task of another kind than `run`, and settles it under its lease. */
export type TaskHandler = (task: ClaimedJobTask) => Promise<void>;

/** Who does the tasks that are not runs. */
export type TaskHandlers = Readonly<Record<Exclude<JobTaskKind, "run" | "deadline">, TaskHandler>>;

type Held = { readonly task: ClaimedJobTask; run: Run | undefined; isCancelled: boolean };

const retryMinMs = 1_000;
const retryMaxMs = 60_000;

/**
 * Claims due tasks and does them, `runsMax` at a time, of one project at most its share: with n projects at work, the (n + 1)th
 * part, at least one. Leases are renewed for all of them in one statement.
 */
export class Worker {
  readonly #context: EngineContext;
  readonly #handlers: TaskHandlers;
  readonly #held = new Map<string, Held>();
  readonly #stopped = new AbortController();
  #pause = new AbortController();
  #isStopping = false;
  /** The last look found as much as there was room for: others wait. */
  #isFull = false;
  #running: Promise<unknown> = Promise.resolve();
  #whenEmpty: (() => void)[] = [];

  constructor(context: EngineContext, handlers: TaskHandlers) {
    this.#context = context;
    this.#handlers = handlers;
  }

  start(): void {
    this.#running = Promise.all([this.#claimLoop(), this.#renewLoop()]);
  }

  /** Looks now. */
  wake(): void {
    this.#pause.abort();
  }

  /** Tells a driver on this node that its job is to be cancelled. */
  cancel(jobId: Id<"job">): void {
    for (const held of this.#held.values()) {
      if (held.task.jobId !== jobId || held.task.kind !== "run") continue;
      held.isCancelled = true;
      if (held.run !== undefined) held.run.isCancelSeen = true;
    }
  }

  /** Claims nothing more, lets calls in flight end for at most `graceMs`, and gives the jobs back. */
  async drain(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.wake();
    for (const { run } of this.#held.values()) if (run !== undefined) run.isStopping = true;
    const done = new AbortController();
    const empty = this.#empty().then(() => done.abort());
    await Promise.race([empty, this.#context.clock.wait(graceMs, done.signal)]);
    this.#stopped.abort();
    await this.#running;
  }

  stats(): { readonly held: number } {
    return { held: this.#held.size };
  }

  #empty(): Promise<void> {
    if (this.#held.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  async #claimLoop(): Promise<void> {
    const { clock, limits } = this.#context;
    while (!this.#isStopping) {
      this.#pause = new AbortController();
      const { signal } = this.#pause;
      const mayBeMore = await this.#look();
      if (!mayBeMore) await clock.wait(limits.pollMs, signal);
    }
  }

  /** One look; whether another is due at once. */
  async #look(): Promise<boolean> {
    const { db, clock, nodeId, limits, observer } = this.#context;
    const room = limits.runsMax - this.#held.size;
    if (room <= 0) {
      this.#isFull = true;
      return false;
    }
    const nowMs = clock.now();
    const { share, fullProjects } = this.#shares();
    const limit = Math.min(room, 50);
    try {
      const request = { owner: nodeId, nowMs, leaseUntilMs: nowMs + limits.leaseMs, limit, share, fullProjects };
      const tasks = await claimJobTasks(db, request);
      this.#isFull = tasks.length === limit && limit === room;
      for (const task of tasks) void this.#do(task);
      return tasks.length === limit && limit < room;
    } catch (error) {
      observer.failed("claim", error);
      return false;
    }
  }

  /** What a project may take on now. A lone one gets everything but one place: a newcomer finds it free. */
  #shares(): { share: number; fullProjects: ReadonlySet<ProjectId> } {
    const used = new Map<ProjectId, number>();
    for (const { task } of this.#held.values()) used.set(task.projectId, (used.get(task.projectId) ?? 0) + 1);
    const { runsMax } = this.#context.limits;
    const share = used.size <= 1 ? Math.max(1, runsMax - 1) : Math.max(1, Math.floor(runsMax / (used.size + 1)));
    const fullProjects = new Set([...used].filter(([, count]) => count >= share).map(([id]) => id));
    return { share, fullProjects };
  }

  async #do(task: ClaimedJobTask): Promise<void> {
    const key = keyOf(task);
    const held: Held = { task, run: undefined, isCancelled: false };
    this.#held.set(key, held);
    try {
      if (task.kind === "run") await this.#drive(held);
      else if (task.kind !== "deadline") await this.#handlers[task.kind](task);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) await this.#giveBack(task, error);
    } finally {
      if (this.#held.get(key) === held) this.#held.delete(key);
      if (this.#held.size === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
      this.wake();
    }
  }

  async #drive(held: Held): Promise<void> {
    const run = await openRun(this.#context, held.task);
    if (run === undefined) return;
    held.run = run;
    run.hasOthersWaiting = () => this.#isFull;
    if (this.#isStopping) run.isStopping = true;
    if (held.isCancelled) run.isCancelSeen = true;
    await drive(run);
  }

  /** Something went wrong that is tried again, later each time: the store was away, or the engine has a fault. */
  async #giveBack(task: ClaimedJobTask, error: unknown): Promise<void> {
    const { db, clock, observer } = this.#context;
    observer.failed(task.kind === "run" ? "drive" : "task", error);
    const waitMs = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(task.attempt - 1, 10));
    try {
      await releaseJobTasks(db, [task], clock.now() + waitMs);
    } catch (releaseError) {
      // The lease runs out by itself.
      if (!isUnavailable(releaseError)) observer.failed("task", releaseError);
    }
  }

  async #renewLoop(): Promise<void> {
    const { clock, limits } = this.#context;
    for (;;) {
      await clock.wait(limits.leaseMs / 3, this.#stopped.signal);
      if (this.#stopped.signal.aborted) return;
      await this.#renew();
    }
  }

  async #renew(): Promise<void> {
    const { db, clock, limits, observer } = this.#context;
    const held = [...this.#held.values()];
    if (held.length === 0) return;
    try {
      const leases = held.map(({ task }) => task);
      const renewed = new Map(
        (await renewJobLeases(db, leases, clock.now() + limits.leaseMs)).map((lease) => [keyOf(lease), lease]),
      );
      for (const { task, run } of held) {
        const lease = renewed.get(keyOf(task));
        if (lease?.isCancelled === true && task.kind === "run") this.cancel(task.jobId);
        // Lost: what it would still do is another node's to do, and its next commit will be refused.
        if (lease === undefined && run !== undefined) run.isStopping = true;
      }
    } catch (error) {
      observer.failed("renew", error);
    }
  }
}

function keyOf({ jobId, kind, subject }: JobTaskLease): string {
  return `${jobId}/${kind}/${subject}`;
}
