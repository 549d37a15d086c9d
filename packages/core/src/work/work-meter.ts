import type { Id, ProjectId } from "../ids/id.ts";
import { createHeldMemory, type HeldMemory, type MemoryBounds, type MemoryHold } from "./held-memory.ts";
import { createSpareTime } from "./spare-time.ts";
import { createTurns, type Turns } from "./turns.ts";

/** Owner of work: the project, and the job or the call. A call is identified by its own id or its request's. */
export type WorkOwner = {
  readonly projectId: ProjectId | "";
  readonly jobId?: Id<"job"> | undefined;
  readonly callId?: string | undefined;
};

/** Costs of work: steps (at most 10 ns each, if a bound is computed first), bytes, milliseconds of the event loop. */
export type WorkAmounts = { readonly steps: number; readonly bytes: number; readonly ms: number };

/**
 * The budget of one request or of one time slice of a job, charged to its project. Long work uses it to run its parts, and to let other
 * work go first in between.
 */
export type Work = {
  readonly owner: WorkOwner;
  readonly spent: WorkAmounts;
  /** Adds to the costs. False once a limit is exceeded: do not do the rest. */
  charge(amounts: Partial<WorkAmounts>): boolean;
  /** Runs a synchronous part. Its time is charged, and reported if it blocks the event loop too long. */
  run<T>(part: () => T): T;
  /** True if the parts since the last turn have used their 10 ms. Also correct inside a part. */
  isSliceOver(): boolean;
  /** Waits for the next turn. */
  turn(): Promise<void>;
  /** Requests spare time before a low-priority part, and releases the loop while it waits. Undefined if there is time now. */
  spareTime(): Promise<void> | undefined;
  /** Reports to the loop's monitor that the loop now does this work. */
  atWork(): void;
  /** Opens an account for memory held across turns, charged to its project. */
  hold(): MemoryHold;
};

/** Work that blocked the event loop. `isMeasured`: the part itself was timed; otherwise its owner is the last known one. */
export type BlockedLoop = WorkOwner & { readonly ms: number; readonly isMeasured: boolean };

/** Meters the work of one node. */
export type WorkMeter = {
  /** Begins a piece of work. Without limits it is only counted. */
  begin(owner: WorkOwner, bounds?: Partial<WorkAmounts>): Work;
  /** The turns that its work waits for, for work too short to be metered. */
  readonly turns: Turns;
  /** Memory that its work holds across turns. */
  readonly memory: HeldMemory;
  /** Milliseconds of the event loop by project since the start: at most 1,000 projects, all others under "". */
  spentMs(): ReadonlyMap<string, number>;
  /** Calls `listener` for all work that blocks the loop for `blockedMs` or longer; several listeners are possible. */
  onBlocked(listener: (held: BlockedLoop) => void): void;
  /** Begins to monitor the loop for work that no part timed. */
  start(): void;
  stop(): void;
};

/** Options of a meter; times in milliseconds. */
export type WorkMeterOptions = {
  /** Blocking time that is reported. Default 250. */
  readonly blockedMs?: number;
  /** Maximum time before work lets others go first. Default 10. */
  readonly sliceMs?: number;
  /** Interval between checks of the loop. Default 50. */
  readonly checkMs?: number;
  /** Limits on memory that work holds. Default: 128 MiB per task, 192 MiB per project, 256 MiB in all. */
  readonly memory?: MemoryBounds | undefined;
};

const projectsMax = 1_000;
const unbounded: WorkAmounts = {
  steps: Number.POSITIVE_INFINITY,
  bytes: Number.POSITIVE_INFINITY,
  ms: Number.POSITIVE_INFINITY,
};

/** Creates the meter of a node. */
export function createWorkMeter({
  blockedMs = 250,
  sliceMs = 10,
  checkMs = 50,
  ...options
}: WorkMeterOptions = {}): WorkMeter {
  const turns = createTurns();
  const spareTime = createSpareTime();
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
          // An inner part is timed with its outer part.
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
        spareTime: () => spareTime.take(owner.projectId),
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
  /** Sets the owner at work from now on; returns the monotonic time. */
  enter(owner: WorkOwner): number;
  /** Returns the CPU milliseconds of this thread at a time, at most 5 ms old. */
  cpuMsAt(nowMs: number): number;
  /** Ends a timed part; returns its duration. */
  leave(owner: WorkOwner, startedMs: number, startedCpuMs: number): number;
};

const noOwner: WorkOwner = { projectId: "" };

/** Minimum share of CPU time in the blocked time: on a busy machine, a process waits without blocking anything. */
const cpuShare = 0.5;

/** Maximum age of a CPU clock reading, milliseconds: small compared with the reported times. */
const cpuReadMs = 5;

/** Returns the CPU milliseconds of this thread. */
function cpuNowMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Creates a monitor that notices a blocked loop in two ways. A part that takes too long names its owner for sure. If its own timer is late
 * although no part was long, it names the owner that was at work for most of the time.
 */
function createWatch(
  { blockedMs, checkMs }: { readonly blockedMs: number; readonly checkMs: number },
  onBlocked: (held: BlockedLoop) => void,
): LoopMonitor {
  let timer: NodeJS.Timeout | undefined;
  let checkedMs = 0;
  let checkedCpuMs = 0;
  let read = { atMs: Number.NEGATIVE_INFINITY, cpuMs: 0 };
  /** Owner at work and since when, and the owner with the longest time since the last check. */
  let current = noOwner;
  let sinceMs = performance.now();
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
      // Reading that clock costs as much as a short part.
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
