import type { Id, ProjectId } from "../ids/id.ts";
import { createHeldMemory, type HeldMemory, type MemoryBounds, type MemoryHold } from "./held-memory.ts";
import { createSlices, createTurns, type Slices, type Turns } from "./turns.ts";

/** The project, and the job or call, for which work is done. `callId`: id of the tool call or, for an API request, of the request. */
export type WorkOwner = {
  readonly projectId: ProjectId | "";
  readonly jobId?: Id<"job"> | undefined;
  readonly callId?: string | undefined;
};

/**
 * Costs of work. `steps`: units of at most 10 ns, for limits that are estimated before the work. `bytes`: size in bytes. `ms`: time of the
 * event loop in milliseconds.
 */
export type WorkAmounts = { readonly steps: number; readonly bytes: number; readonly ms: number };

/**
 * The costs of one request, or of one time slice of a job. They are charged to the project. Long work runs its parts with `run`, and waits
 * for `turn` between them so that other work can run.
 */
export type Work = {
  readonly owner: WorkOwner;
  readonly spent: WorkAmounts;
  /** Adds amounts to the costs of a piece of work. Returns false if a limit is exceeded; the caller must then stop the work. */
  charge(amounts: Partial<WorkAmounts>): boolean;
  /** Runs a synchronous part of the work. Charges its time, and reports the part if it blocks the event loop too long. */
  run<T>(part: () => T): T;
  /** True if this work has run for `sliceMs` (2 ms) since its last turn. It should then wait for its next `turn`. */
  isSliceOver(): boolean;
  /** Gives other work a chance to run, and resolves when this work may continue. */
  turn(): Promise<void>;
  /** Begins a long part in slices of 4 ms. Each slice that ends is charged like a part of `run`, and the next one waits for its turn. */
  slices(): Slices;
  /**
   * Requests time before a part of low-priority work. Returns undefined if the part may begin at once. Otherwise resolves when there is
   * time; other work runs until then.
   */
  spareTime(): Promise<void> | undefined;
  /**
   * Reports to the monitor of the event loop that this work runs from now on. If the event loop is then blocked for long, the monitor can
   * name the project whose work blocked it.
   */
  atWork(): void;
  /** Returns a counter for memory that this piece of work keeps while other work runs. The memory counts for the project of the work. */
  hold(): MemoryHold;
};

/**
 * Work that blocked the event loop for `ms` milliseconds. `isMeasured`: false if svc only assumes that it was this work, because it ran
 * longest.
 */
export type BlockedLoop = WorkOwner & { readonly ms: number; readonly isMeasured: boolean };

/** Measures the work of one node. */
export type WorkMeter = {
  /** Begins to measure a piece of work. `bounds`: limits of its costs. Without `bounds`, costs are counted but not limited. */
  begin(owner: WorkOwner, bounds?: Partial<WorkAmounts>): Work;
  /** The turns on the event loop for which work waits. Short work that is not measured waits for them too. */
  readonly turns: Turns;
  /** Memory that long work (such as reading many rows) keeps between its parts, while the event loop runs work of other projects. */
  readonly memory: HeldMemory;
  /**
   * Returns the event loop time by project since the start, in milliseconds. Lists at most 1,000 projects; the time of all other projects
   * is under "".
   */
  spentMs(): ReadonlyMap<string, number>;
  /**
   * Registers a listener, which is called whenever work has blocked the event loop for `blockedMs` or longer. Several listeners can be
   * registered.
   */
  onBlocked(listener: (held: BlockedLoop) => void): void;
  /** Starts to watch how long the event loop is blocked. This also finds blocking work whose duration no code measures. */
  start(): void;
  stop(): void;
};

/** Options of a work meter (it measures and limits the work of one node). Times are in milliseconds. */
export type WorkMeterOptions = {
  /** Minimum blocking time that is reported. Default 250. */
  readonly blockedMs?: number;
  /** Time in milliseconds after which work must let other work run. Default: 2. */
  readonly sliceMs?: number;
  /** Interval between two checks of the event loop. Default 50. */
  readonly checkMs?: number;
  /** Limits on the memory that work keeps while other work runs. Default: 128 MiB per task, 192 MiB per project, 256 MiB for the node. */
  readonly memory?: MemoryBounds | undefined;
};

const projectsMax = 1_000;
const unbounded: WorkAmounts = {
  steps: Number.POSITIVE_INFINITY,
  bytes: Number.POSITIVE_INFINITY,
  ms: Number.POSITIVE_INFINITY,
};

/** Creates the work meter of a node. It measures how much event loop time and memory each project uses, and limits both. */
export function createWorkMeter({
  blockedMs = 250,
  sliceMs = 2,
  checkMs = 50,
  ...options
}: WorkMeterOptions = {}): WorkMeter {
  const turns = createTurns();
  const memory = createHeldMemory(options.memory);
  const byProject = new Map<string, number>();
  const listeners: ((held: BlockedLoop) => void)[] = [];
  const watch = createWatch({ blockedMs, checkMs }, (held) => {
    for (const listener of listeners) listener(held);
  });
  const count = ({ projectId }: WorkOwner, ms: number) => {
    const key = byProject.has(projectId) || byProject.size < projectsMax ? projectId : "";
    byProject.set(key, (byProject.get(key) ?? 0) + ms);
  };
  return {
    turns,
    memory,
    begin(owner, bounds = {}) {
      const limits = { ...unbounded, ...bounds };
      const spent = { steps: 0, bytes: 0, ms: 0 };
      let sliceStartedMs = watch.enter(owner);
      let depth = 0;
      const charge: Work["charge"] = ({ steps = 0, bytes = 0, ms = 0 }) => {
        spent.steps += steps;
        spent.bytes += bytes;
        spent.ms += ms;
        return spent.steps <= limits.steps && spent.bytes <= limits.bytes && spent.ms <= limits.ms;
      };
      return {
        owner,
        spent,
        charge,
        run(part) {
          // The work `part` was started inside other work. The time of that work already includes the time of `part`, so it is not measured
          // twice.
          if (depth > 0) return part();
          depth++;
          const startedMs = watch.enter(owner);
          const startedCpuMs = watch.cpuMsAt(startedMs);
          try {
            return part();
          } finally {
            depth--;
            const ms = watch.leave(owner, startedMs, startedCpuMs);
            charge({ ms });
            count(owner, ms);
          }
        },
        isSliceOver: () => performance.now() - sliceStartedMs >= sliceMs,
        async turn() {
          await turns.next(owner.projectId);
          sliceStartedMs = watch.enter(owner);
        },
        slices() {
          return createSlices(() => this.turn(), {
            onEnd: (ms) => {
              charge({ ms });
              count(owner, ms);
            },
          });
        },
        spareTime: () => turns.spare(owner.projectId),
        atWork: () => void watch.enter(owner),
        hold: () => memory.open(owner.projectId),
      };
    },
    spentMs: () => byProject,
    onBlocked: (listener) => {
      listeners.push(listener);
    },
    start: watch.start,
    stop: watch.stop,
  };
}

type LoopMonitor = Pick<WorkMeter, "start" | "stop"> & {
  /** Records that work of `owner` runs from now on. Returns the current monotonic time in milliseconds. */
  enter(owner: WorkOwner): number;
  /** Returns the CPU milliseconds that this thread has used. The value may be up to 5 ms old at the time `nowMs`. */
  cpuMsAt(nowMs: number): number;
  /** Ends the work that `enter` began for the same owner. Returns its duration in milliseconds. */
  leave(owner: WorkOwner, startedMs: number, startedCpuMs: number): number;
};

const noOwner: WorkOwner = { projectId: "" };

/**
 * Share of the blocked time in which this thread must have used the CPU. With less, the blocking is not reported, because the thread may
 * only have waited for the CPU.
 */
const cpuShare = 0.5;

/** A reading of the CPU time is used for this many milliseconds. Then the CPU time is read again. */
const cpuReadMs = 5;

/** Returns the CPU milliseconds that this thread has used. */
function cpuNowMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Creates the monitor that notices a blocked event loop. If a measured piece of work took too long, the monitor reports its owner (project
 * and job). If only the monitor's timer is late, it reports the owner that worked for most of the time.
 */
function createWatch(
  { blockedMs, checkMs }: { readonly blockedMs: number; readonly checkMs: number },
  onBlocked: (held: BlockedLoop) => void,
): LoopMonitor {
  let timer: NodeJS.Timeout | undefined;
  let checkedMs = 0;
  let checkedCpuMs = 0;
  let read = { atMs: Number.NEGATIVE_INFINITY, cpuMs: 0 };
  /** Owner (for example a project) of the work that runs now. */
  let current = noOwner;
  /** Time at which the work of `current` began, in milliseconds. */
  let sinceMs = performance.now();
  /** Owner and duration of the longest piece of work since the last check. */
  let longest = { owner: noOwner, ms: 0 };
  let isReported = false;
  const turnTo = (owner: WorkOwner): number => {
    const nowMs = performance.now();
    if (nowMs - sinceMs > longest.ms) longest = { owner: current, ms: nowMs - sinceMs };
    current = owner;
    sinceMs = nowMs;
    return nowMs;
  };
  const look = () => {
    const nowMs = turnTo(current);
    const lateMs = nowMs - checkedMs - checkMs;
    const cpuMs = cpuNowMs();
    if (lateMs >= blockedMs && !isReported && cpuMs - checkedCpuMs >= blockedMs * cpuShare) {
      onBlocked({ ...longest.owner, ms: Math.round(lateMs), isMeasured: false });
    }
    checkedCpuMs = cpuMs;
    checkedMs = nowMs;
    longest = { owner: noOwner, ms: 0 };
    isReported = false;
  };
  return {
    enter: turnTo,
    cpuMsAt(nowMs) {
      // Reading the CPU time costs as much as a short part, so the last reading is reused for some milliseconds.
      if (nowMs - read.atMs >= cpuReadMs) read = { atMs: nowMs, cpuMs: cpuNowMs() };
      return read.cpuMs;
    },
    leave(owner, startedMs, startedCpuMs) {
      const ms = turnTo(owner) - startedMs;
      if (ms >= blockedMs && cpuNowMs() - startedCpuMs >= blockedMs * cpuShare) {
        isReported = true;
        onBlocked({ ...owner, ms: Math.round(ms), isMeasured: true });
      }
      return ms;
    },
    start() {
      checkedMs = turnTo(noOwner);
      checkedCpuMs = cpuNowMs();
      longest = { owner: noOwner, ms: 0 };
      timer ??= setInterval(look, checkMs);
      timer.unref();
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
