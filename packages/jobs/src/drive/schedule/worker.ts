import type { SeenAccounts } from "@svc/connections";
import { beginSpan, claimSpan, type ProjectId } from "@svc/core";
import { isUnavailable } from "@svc/db/driver";
import { type ClaimedJobTask, claimJobTasks, releaseJobTasks } from "@svc/db/job-tasks/queue";
import type { FirstLease } from "@svc/db/job-tasks/task";
import type { JobRecord } from "@svc/db/jobs/record";
import type { JobTaskKind } from "@svc/db/schema/words";
import { type Program, stepsOf } from "@svc/program";
import type { EngineContext } from "../context.ts";
import { LeaseLostError } from "../port.ts";
import { beginJob, type JobBeginning } from "../run/begin.ts";
import { createDriver, drive } from "../run/loop.ts";
import { changeOf } from "../store/commit.ts";
import { type OpenJob, openJob, openNewJob, openPlannedJob, type PlannedJob } from "../store/open.ts";
import { jobSeals } from "../store/seals.ts";
import type { CheckedRecord } from "../store/stored-program.ts";
import { type HeldTask, HeldTasks, Slots } from "./held-tasks.ts";

/**
 * Does the work of a task of a job, and ends the task if this node still has its lease (time-limited right to the task). It is used for
 * tasks such as asking a person, not for running the job's steps.
 */
export type TaskHandler = (task: ClaimedJobTask) => Promise<void>;

/** The functions that do the tasks of jobs, by kind of task. The kinds `run` and `deadline` are missing, because they run the job itself. */
export type TaskHandlers = Readonly<Record<Exclude<JobTaskKind, "run" | "deadline">, TaskHandler>>;

/**
 * A reserved slot for a new job, and the lease (time-limited claim) with which the job is to be stored. The caller must call either `begin`
 * or `cancel`, once.
 */
export type Reservation = {
  readonly lease: FirstLease;
  /**
   * Runs the first steps of the job in memory, so that their results are stored together with the job. If the result has a prepared first
   * call, the caller must send or cancel that call. `seen`: connected accounts that were already read when the job was submitted.
   */
  plan(job: JobRecord, program: CheckedRecord, seen?: SeenAccounts): Promise<PlannedJob>;
  /**
   * Runs the job after the caller has stored it with a lease (a reserved right of this node to run it). `planned`: the first steps of the
   * job as `plan` returned them, if they were stored with the job.
   */
  begin(job: JobRecord, planned?: PlannedJob): void;
  /**
   * Releases the reserved slot (a place to run one job). Call this function if the job was not stored with the lease (right of this node to
   * run it).
   */
  cancel(): void;
};

/**
 * A job that SubmitJob has just stored on this node. `planned`: the first steps of the job, up to its first commit, if they were stored
 * together with the job.
 */
type StoredJob = { readonly job: JobRecord; readonly planned: PlannedJob | undefined };

/** Due times are rounded up to multiples of this number of milliseconds, so that tasks due at nearly the same time are claimed together. */
const dueStepMs = 10;
/** Largest number of tasks in one claim. */
const claimMax = 200;
/**
 * Maximum number of extra tasks of a project that one search for due tasks may take. They replace tasks whose rows another process keeps
 * locked.
 */
const sparePlaces = 64;
const retryMinMs = 1_000;
const retryMaxMs = 60_000;
/**
 * Takes due tasks of jobs from the database and runs them, at most `runsMax` at a time on this node. Each project gets at most its share of
 * them, so that the jobs of all projects make progress.
 */
export class Worker {
  /** Dependencies of the jobs that this worker runs: database, clock, limits and more. */
  readonly context: EngineContext;
  /** The tasks that this worker is running. */
  readonly held: HeldTasks;
  readonly #handlers: TaskHandlers;
  /** Times, in epoch milliseconds, at which this node must look for due tasks before its next regular look. */
  readonly #dues = new Set<number>();
  readonly #stopped = new AbortController();
  #pause = new AbortController();
  #isStopping = false;
  /**
   * True if the last claim filled all free slots of the node. A claim takes due tasks for this node. A slot is the right to run one task.
   * More due tasks may then wait for a slot.
   */
  #isFull = false;
  /** Maximum number of spare tasks (due tasks of a project beyond its share) that the next claim may take. */
  #spare = 0;
  /**
   * True if the last search for due tasks may have left some of them. This happens if this node runs its maximum number of jobs, or if a
   * project already runs as many as one project may.
   */
  #hasLeft = false;
  #running: Promise<unknown> = Promise.resolve();
  #whenEmpty: (() => void)[] = [];
  #isStarted = false;
  #claims = true;
  readonly #onDueElsewhere: () => void;
  readonly #places: Slots;

  /** `onDueElsewhere`: called when a task becomes due, if this worker takes no tasks itself. */
  constructor(parts: Omit<EngineContext, "onDue">, handlers: TaskHandlers, onDueElsewhere: () => void = () => {}) {
    this.#onDueElsewhere = onDueElsewhere;
    this.context = { ...parts, onDue: this.#noteDue };
    this.#handlers = handlers;
    this.held = new HeldTasks(parts);
    this.#places = new Slots(parts.limits.runsMax);
  }

  start({ claims }: { readonly claims: boolean } = { claims: true }): void {
    this.#isStarted = true;
    this.#claims = claims;
    this.#running = Promise.all([claims ? this.#claimLoop() : undefined, this.held.renewUntil(this.#stopped.signal)]);
  }

  /** Makes this worker look for due tasks at once. A worker that takes no tasks itself passes this on with `onDueElsewhere`. */
  readonly wake = (): void => {
    if (this.#claims) this.#pause.abort("woken");
    else this.#onDueElsewhere();
  };

  /**
   * Notes that a task becomes due at `atMs`, and wakes the loop that claims due tasks. The loop then computes its pause again. If the task
   * is due after the next regular claim, nothing needs to be noted.
   */
  readonly #noteDue = (atMs = 0): void => {
    const { clock, limits } = this.context;
    if (!this.#claims && atMs > clock.now()) return;
    if (atMs > 0 && atMs - clock.now() < limits.pollMs) this.#dues.add(Math.ceil(atMs / dueStepMs) * dueStepMs);
    this.wake();
  };

  /**
   * Returns the pause until this node looks for due tasks again, in milliseconds. The pause ends at the earliest due time that the node
   * knows of, or at the next regular look. `lookedAtMs`: time of the last look.
   */
  #pauseMs(lookedAtMs: number): number {
    const { clock, limits } = this.context;
    let dueMs = lookedAtMs + limits.pollMs;
    for (const atMs of this.#dues) {
      if (atMs <= lookedAtMs) this.#dues.delete(atMs);
      else dueMs = Math.min(dueMs, atMs);
    }
    return Math.max(0, dueMs - clock.now());
  }

  /** Stops claiming tasks, waits at most `graceMs` for calls in flight, and gives the jobs back. */
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

  /** Returns the number of running tasks. */
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

  /** Claims due tasks and runs them. Returns true if more tasks may be due and slots are free, so that the next claim follows at once. */
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
      const claimed = tasks.length;
      const claim =
        claimed === 0 ? undefined : beginSpan(claimSpan, { of: "jobs", claimed, tookMs: clock.now() - nowMs });
      claim?.end();
      await this.context.sealer.ready(tasks.map(({ projectId }) => projectId));
      // If this claim (query for due tasks) found nothing, or took spare tasks, another process may have locked tasks. Only then may the
      // next claim take spare tasks (due tasks beyond a project's share). Otherwise it would lock tasks that this node does not need.
      this.#spare = tasks.length === 0 || tasks.some(({ place }) => place > share) ? sparePlaces : 0;
      this.#isFull = tasks.length === limit && limit === room;
      this.#hasLeft = tasks.length === limit || fullProjects.size > 0 || isShared(tasks, share);
      for (const task of await this.#withoutSuspects(tasks)) {
        this.#places.take(task.projectId);
        void this.#do(task, undefined, claim?.traceparent);
      }
      return tasks.length === limit && limit < room;
    } catch (error) {
      observer.failed("claim", error);
      return false;
    }
  }

  /**
   * Returns the tasks to run, with at most one suspect among them. A suspect is a job that will be parked if one more node fails while it
   * runs the job. Releases the other suspects.
   */
  async #withoutSuspects(tasks: readonly ClaimedJobTask[]): Promise<readonly ClaimedJobTask[]> {
    const { db, clock, limits, observer } = this.context;
    // If a job crashes its node, all jobs of the node lose their leases. With one suspect at a time, only the job that crashes is parked.
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
   * Reserves a slot for a new job. The job is then stored with a lease of this node (the time in which only this node may work on it). So
   * the job need not be claimed from the database. Returns undefined in these cases:
   * - The engine is not running.
   * - Other jobs wait for a slot, or the project already uses its share of the slots.
   * - This node claims no tasks from the database, and the job fetches or maps rows.
   */
  reserve(projectId: ProjectId, program?: Program): Reservation | undefined {
    const { clock, limits, nodeId } = this.context;
    if (!this.#claims && program !== undefined && readsRows(program)) return undefined;
    if (!this.#isStarted || this.#isStopping || this.#hasLeft || !this.#places.hasRoomFor(projectId)) return undefined;
    this.#places.take(projectId);
    return {
      lease: { owner: nodeId, untilMs: clock.now() + limits.leaseMs },
      plan: (job, program, seen) => planNewJob(this.context, job, program, seen),
      begin: (job, planned) => void this.#do(firstRunOf(job), { job, planned }),
      cancel: () => this.#leave(projectId),
    };
  }

  #leave(projectId: ProjectId): void {
    this.#places.leave(projectId);
    if (this.#places.taken === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
    if (this.#hasLeft) this.wake();
  }

  /**
   * Runs a task of a job in a slot that is reserved for it. `stored`: the job, if it was submitted on this node just now. The job then need
   * not be read from the database. `claim`: the span of the claim that took the task.
   */
  async #do(task: ClaimedJobTask, stored?: StoredJob, claim?: string): Promise<void> {
    const interrupts = {
      isStopping: this.#isStopping,
      isCancelSeen: false,
      isPauseSeen: false,
      hasOthersWaiting: () => this.#isFull,
    };
    const held: HeldTask = { task, isSuspect: this.#isSuspect(task), interrupts };
    this.held.add(held);
    try {
      if (task.kind === "run") await this.#drive(held, stored, claim);
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

  async #drive(held: HeldTask, stored: StoredJob | undefined, claim: string | undefined): Promise<void> {
    const { task, interrupts } = held;
    const opened = await this.#open(held, stored);
    if (opened === undefined) return;
    const { work, port, call } = opened;
    await drive({ work, call }, createDriver(port, interrupts, task.losses), claim);
  }

  async #open(held: HeldTask, stored: StoredJob | undefined): Promise<(OpenJob & Partial<JobBeginning>) | undefined> {
    if (stored === undefined) {
      const clear = () => {
        held.isSuspect = false;
      };
      return openJob(this.context, held.task, held.isSuspect ? clear : undefined);
    }
    return stored.planned === undefined ? openNewJob(this.context, stored.job) : openPlannedJob(stored.planned);
  }

  /**
   * Releases a task of a job after an error, so that any node may take it. The task is due again after a pause that doubles with each
   * attempt. The error is an unavailable database or an error in the engine itself.
   */
  async #giveBack(task: ClaimedJobTask, error: unknown): Promise<void> {
    const { db, clock, observer } = this.context;
    observer.failed(task.kind === "run" ? "drive" : "task", error);
    const waitMs = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(task.attempt - 1, 10));
    try {
      await releaseJobTasks(db, [task], clock.now() + waitMs);
    } catch (releaseError) {
      // The task could not be given back. Its lease expires by itself, and the task is then claimed again.
      if (!isUnavailable(releaseError)) observer.failed("task", releaseError);
    }
  }
}

/** True if a program fetches or maps rows. Such a job may run for long, and it uses much of the node's event loop. */
function readsRows({ steps }: Program): boolean {
  return [...stepsOf(steps)].some((step) => step.kind === "map" || ("rows" in step && step.rows !== undefined));
}

/**
 * True if the claimed tasks of at least one project reach `share`, the project's part of the node's slots. This project may then have more
 * due tasks.
 */
function isShared(tasks: readonly ClaimedJobTask[], share: number): boolean {
  return [...Map.groupBy(tasks, ({ projectId }) => projectId).values()].some(({ length }) => length >= share);
}

/** Returns the task of kind `run` of a new job. It has the same form as a task that a node has claimed from the database. */
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

/** Runs a new job in memory up to its first commit, and returns the result. It is called before the job is stored. */
async function planNewJob(
  context: EngineContext,
  job: JobRecord,
  program: CheckedRecord,
  seen: SeenAccounts | undefined,
): Promise<PlannedJob> {
  // The program is put into the cache now, because the job's driver cannot read it from the database yet.
  context.programs.put(job.projectId, job.programDigest, program);
  const { work, port } = await openNewJob(context, job);
  const beginning = await beginJob(work, port, seen);
  const parts = { task: "keep", call: beginning.call?.begun } as const;
  const change = changeOf(beginning.work, parts, jobSeals(context.sealer, job.projectId, job.id), context);
  return { port, beginning, change };
}
