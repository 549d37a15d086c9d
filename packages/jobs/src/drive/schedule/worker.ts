import type { ProjectId } from "@svc/core";
import { isUnavailable } from "@svc/db/driver";
import { type ClaimedJobTask, claimJobTasks, releaseJobTasks } from "@svc/db/job-tasks/queue";
import type { FirstLease } from "@svc/db/job-tasks/task";
import type { JobRecord } from "@svc/db/jobs/record";
import type { JobTaskKind } from "@svc/db/schema/words";
import type { EngineContext } from "../context.ts";
import { LeaseLostError } from "../port.ts";
import { type Beginning, beginJob } from "../run/begin.ts";
import { createDriver, drive } from "../run/loop.ts";
import { changeOf } from "../store/commit.ts";
import { type OpenJob, openJob, openNewJob, openPlannedJob, type PlannedJob } from "../store/open.ts";
import { jobSeals } from "../store/seals.ts";
import type { CheckedRecord } from "../store/stored-program.ts";
import { type Held, HeldTasks, Places } from "./held-tasks.ts";

/** Does the work of one task of another kind than `run`, and settles it under its lease. */
export type TaskHandler = (task: ClaimedJobTask) => Promise<void>;

/** Who does the tasks that are not runs. */
export type TaskHandlers = Readonly<Record<Exclude<JobTaskKind, "run" | "deadline">, TaskHandler>>;

/** A place that is kept for a job, and the lease that it is to be stored under. `begin` or `cancel` is to be called, once. */
export type Reservation = {
  readonly lease: FirstLease;
  /** How the job begins: what is stored with it. Its first call is ready then, and is to be sent or cancelled. */
  plan(job: JobRecord, program: CheckedRecord): Promise<PlannedJob>;
  /** The job is stored under the lease, as it was planned, if it was: drives it. */
  begin(job: JobRecord, planned?: PlannedJob): void;
  /** The job was not stored under the lease. */
  cancel(): void;
};

/** A job as its submission has just stored it, and how it was planned. */
type StoredJob = { readonly job: JobRecord; readonly planned: PlannedJob | undefined };

/** Tasks that are due within so much are looked for together. */
const dueStepMs = 10;
/** Tasks that one look takes at most. */
const claimMax = 200;
/** Tasks of a project that may be locked by a stopped process, beyond its share, before the project waits for them. */
const sparePlaces = 64;
const retryMinMs = 1_000;
const retryMaxMs = 60_000;
/**
 * Claims due tasks and does them, `runsMax` at a time, of one project at most its share.
 */
export class Worker {
  /** What its drivers work with. */
  readonly context: EngineContext;
  /** What it has under way. */
  readonly held: HeldTasks;
  readonly #handlers: TaskHandlers;
  /** When tasks that this node gave back are due, as far as that is before its next look. */
  readonly #dues = new Set<number>();
  readonly #stopped = new AbortController();
  #pause = new AbortController();
  #isStopping = false;
  /** The last look found as much as there was room for: others wait. */
  #isFull = false;
  /** See `JobClaimRequest`. */
  #spare = 0;
  /** The last look may have left something: for want of room, or because a project has its share. */
  #hasLeft = false;
  #running: Promise<unknown> = Promise.resolve();
  #whenEmpty: (() => void)[] = [];
  #isStarted = false;
  readonly #places: Places;

  constructor(parts: Omit<EngineContext, "onDue">, handlers: TaskHandlers) {
    this.context = { ...parts, onDue: this.#noteDue };
    this.#handlers = handlers;
    this.held = new HeldTasks(parts);
    this.#places = new Places(parts.limits.runsMax);
  }

  start(): void {
    this.#isStarted = true;
    this.#running = Promise.all([this.#claimLoop(), this.held.renewUntil(this.#stopped.signal)]);
  }

  /** Looks now. */
  readonly wake = (): void => this.#pause.abort("woken");

  /** Looks when something is due. What is due later than the next look is found by that. */
  readonly #noteDue = (atMs = 0): void => {
    const { clock, limits } = this.context;
    if (atMs > 0 && atMs - clock.now() < limits.pollMs) this.#dues.add(Math.ceil(atMs / dueStepMs) * dueStepMs);
    this.wake();
  };

  /** How long until something is due that the look at `lookedAtMs` was too early for, or until it looks anyhow. */
  #pauseMs(lookedAtMs: number): number {
    const { clock, limits } = this.context;
    let dueMs = lookedAtMs + limits.pollMs;
    for (const atMs of this.#dues) {
      if (atMs <= lookedAtMs) this.#dues.delete(atMs);
      else dueMs = Math.min(dueMs, atMs);
    }
    return Math.max(0, dueMs - clock.now());
  }

  /** Claims nothing more, lets calls in flight end for at most `graceMs`, and gives the jobs back. */
  async drain(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.wake();
    this.held.stopAll();
    const done = new AbortController();
    const empty = this.#empty().then(() => done.abort());
    await Promise.race([empty, this.context.clock.wait(graceMs, done.signal)]);
    await this.held.release();
    this.#stopped.abort();
    await this.#running;
  }

  /** How many tasks are under way. */
  stats(): { readonly held: number } {
    return { held: this.held.count };
  }

  #empty(): Promise<void> {
    if (this.#places.taken === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  async #claimLoop(): Promise<void> {
    const { clock } = this.context;
    while (!this.#isStopping) {
      this.#pause = new AbortController();
      const { signal } = this.#pause;
      const lookedAtMs = clock.now();
      const mayBeMore = await this.#look();
      if (!mayBeMore) await clock.wait(this.#pauseMs(lookedAtMs), signal);
    }
  }

  /** One look; whether another is due at once. */
  async #look(): Promise<boolean> {
    const { db, clock, nodeId, limits, observer } = this.context;
    const room = this.#places.free;
    if (room <= 0) {
      this.#isFull = true;
      this.#hasLeft = true;
      return false;
    }
    const nowMs = clock.now();
    const { share } = this.#places;
    const fullProjects = this.#places.fullProjects();
    const limit = Math.min(room, claimMax);
    try {
      const leaseUntilMs = nowMs + limits.leaseMs;
      const request = { owner: nodeId, nowMs, leaseUntilMs, limit, share, spare: this.#spare, fullProjects };
      const tasks = await claimJobTasks(db, request);
      await this.context.sealer.ready(tasks.map(({ projectId }) => projectId));
      // Only what nothing came of may have met locks: to look past them each time would lock what is not taken.
      this.#spare = tasks.length === 0 || tasks.some(({ place }) => place > share) ? sparePlaces : 0;
      this.#isFull = tasks.length === limit && limit === room;
      this.#hasLeft = tasks.length === limit || fullProjects.size > 0 || isShared(tasks, share);
      for (const task of await this.#withoutSuspects(tasks)) {
        this.#places.take(task.projectId);
        void this.#do(task);
      }
      return tasks.length === limit && limit < room;
    } catch (error) {
      observer.failed("claim", error);
      return false;
    }
  }

  /**
   * Leaves out, and gives back, suspects beyond one: jobs whose next lost lease would be the last. When a job takes its node down, what
   * the node held beside it loses a lease with it; so that only the job itself is parked for that, suspects are driven one at a time,
   * and the others are given back before the one begins.
   */
  async #withoutSuspects(tasks: readonly ClaimedJobTask[]): Promise<readonly ClaimedJobTask[]> {
    const { db, clock, limits, observer } = this.context;
    const others = tasks.filter((task) => this.#isSuspect(task)).slice(this.held.hasSuspect() ? 0 : 1);
    if (others.length === 0) return tasks;
    try {
      await releaseJobTasks(db, others, clock.now() + limits.pollMs);
    } catch (error) {
      observer.failed("claim", error);
      return tasks;
    }
    return tasks.filter((task) => !others.includes(task));
  }

  #isSuspect({ kind, losses }: ClaimedJobTask): boolean {
    return kind === "run" && losses >= this.context.limits.lossesMax - 1;
  }

  /**
   * Keeps a place for a job of a project that is about to be stored: under the lease it is this node's from the beginning, so that
   * nobody claims or reads it. Undefined where it has to stand in line: while the engine does not run, others wait, or the project has
   * its share.
   */
  reserve(projectId: ProjectId): Reservation | undefined {
    const { clock, limits, nodeId } = this.context;
    if (!this.#isStarted || this.#isStopping || this.#hasLeft || !this.#places.hasRoomFor(projectId)) return undefined;
    this.#places.take(projectId);
    return {
      lease: { owner: nodeId, untilMs: clock.now() + limits.leaseMs },
      plan: (job, program) => planNewJob(this.context, job, program),
      begin: (job, planned) => void this.#do(firstRunOf(job), { job, planned }),
      cancel: () => this.#leave(projectId),
    };
  }

  #leave(projectId: ProjectId): void {
    this.#places.leave(projectId);
    if (this.#places.taken === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
    if (this.#hasLeft) this.wake();
  }

  /** Does a task that has its place; `stored`: the job that its submission has just stored. */
  async #do(task: ClaimedJobTask, stored?: StoredJob): Promise<void> {
    const interrupts = {
      isStopping: this.#isStopping,
      isCancelSeen: false,
      isPauseSeen: false,
      hasOthersWaiting: () => this.#isFull,
    };
    const held: Held = { task, isSuspect: this.#isSuspect(task), interrupts };
    this.held.add(held);
    try {
      if (task.kind === "run") await this.#drive(held, stored);
      else if (task.kind !== "deadline") await this.#handlers[task.kind](task);
    } catch (error) {
      if (error instanceof LeaseLostError) await error.recorded;
      else await this.#giveBack(task, error);
    } finally {
      this.held.delete(held);
      if (task.kind !== "run") this.wake();
      this.#leave(task.projectId);
    }
  }

  async #drive(held: Held, stored: StoredJob | undefined): Promise<void> {
    const { task, interrupts } = held;
    const opened = await this.#open(held, stored);
    if (opened === undefined) return;
    const { work, port, call } = opened;
    await drive({ work, call }, createDriver(port, interrupts, task.losses));
  }

  async #open(held: Held, stored: StoredJob | undefined): Promise<(OpenJob & Partial<Beginning>) | undefined> {
    if (stored === undefined) {
      const clear = () => {
        held.isSuspect = false;
      };
      return openJob(this.context, held.task, held.isSuspect ? clear : undefined);
    }
    return stored.planned === undefined ? openNewJob(this.context, stored.job) : openPlannedJob(stored.planned);
  }

  /** Something went wrong that is tried again, later each time: the store was away, or the engine has a fault. */
  async #giveBack(task: ClaimedJobTask, error: unknown): Promise<void> {
    const { db, clock, observer } = this.context;
    observer.failed(task.kind === "run" ? "drive" : "task", error);
    const waitMs = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(task.attempt - 1, 10));
    try {
      await releaseJobTasks(db, [task], clock.now() + waitMs);
    } catch (releaseError) {
      // The lease runs out by itself.
      if (!isUnavailable(releaseError)) observer.failed("task", releaseError);
    }
  }
}

/** Whether a project has its share with these tasks alone. */
function isShared(tasks: readonly ClaimedJobTask[], share: number): boolean {
  return [...Map.groupBy(tasks, ({ projectId }) => projectId).values()].some(({ length }) => length >= share);
}

/** The run of a job that was stored leased. */
function firstRunOf({ id: jobId, projectId, createdAt }: JobRecord): ClaimedJobTask {
  return {
    jobId,
    projectId,
    kind: "run",
    subject: "",
    leaseToken: 1,
    attempt: 1,
    losses: 0,
    dueAt: createdAt,
    place: 1,
  };
}

/** Takes a job that is about to be stored as far as its first commit. */
async function planNewJob(context: EngineContext, job: JobRecord, program: CheckedRecord): Promise<PlannedJob> {
  // The store does not have it yet.
  context.programs.put(job.projectId, job.programDigest, program);
  const { work, port } = await openNewJob(context, job);
  const beginning = await beginJob(work, port);
  const parts = { task: "keep", call: beginning.call?.begun } as const;
  const change = changeOf(beginning.work, parts, jobSeals(context.sealer, job.projectId, job.id), context);
  return { port, beginning, change };
}
