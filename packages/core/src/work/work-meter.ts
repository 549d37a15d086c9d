import type { Id, ProjectId } from "../ids/id.ts";
import { createHeldMemory, type HeldMemory, type MemoryBounds, type MemoryHold } from "./held-memory.ts";
import { createSpareTime } from "./spare-time.ts";
import { createTurns, type Turns } from "./turns.ts";

/** Whose work it is: the project, and the job or the call. A call is named by its own id or by that of its request. */
export type WorkOwner = {
  readonly projectId: ProjectId | "";
  readonly jobId?: Id<"job"> | undefined;
  readonly callId?: string | undefined;
};

/** What work takes: steps (10 ns each at worst, where a bound is computed before), bytes, milliseconds of the event loop. */
export type WorkAmounts = { readonly steps: number; readonly bytes: number; readonly ms: number };

/**
 * The budget of one request or of one slice of a job, charged to its project. Whoever does long work takes it: runs its parts
 * under it, and lets others go first in between.
 */
export type Work = {
  readonly owner: WorkOwner;
  readonly spent: WorkAmounts;
  /** Adds to what was spent. False once a bound is passed: what is left is not to be done. */
  charge(amounts: Partial<WorkAmounts>): boolean;
  /** Runs a synchronous part. Its time is charged, and told of where it holds the event loop too long. */
  run<T>(part: () => T): T;
  /** Whether the parts since the last turn have had their 10 ms. True in the middle of a part as well. */
  isSliceOver(): boolean;
  /** Waits for the next turn. */
  turn(): Promise<void>;
  /** Asks for spare time before a part begins that can wait, and lets the loop go while it waits for others. Undefined when there is time now. */
  spareTime(): Promise<void> | undefined;
  /** Says that what the loop does from here on is this work, to who watches it. */
  atWork(): void;
  /** Opens an account of what it holds in memory beyond its turns, charged to its project. */
  hold(): MemoryHold;
};

/** Somebody held the event loop. `isMeasured`: the part was timed itself; else its owner is the last that was seen at work. */
export type HeldLoop = WorkOwner & { readonly ms: number; readonly isMeasured: boolean };

/** Meters the work of one node. */
export type WorkMeter = {
  /** Begins a piece of work. Without bounds it is only counted. */
  begin(owner: WorkOwner, bounds?: Partial<WorkAmounts>): Work;
  /** The turns that its work waits for, for work that is too short to be metered. */
  readonly turns: Turns;
  /** What its work holds in memory beyond its turns. */
  readonly memory: HeldMemory;
  /** Milliseconds of the event loop by project since the start: at most 1,000 projects, all others under "". */
  spentMs(): ReadonlyMap<string, number>;
  /** Hears of everything that holds the loop for `heldMs` or longer; several may listen. */
  onHeld(listener: (held: HeldLoop) => void): void;
  /** Begins to watch the loop for what no part was timed of. */
  start(): void;
  stop(): void;
};

/** Bounds of a meter; times in milliseconds. */
export type WorkMeterOptions = {
  /** Holding the loop so long is told. Default 250. */
  readonly heldMs?: number;
  /** What work may run before it lets others go first. Default 10. */
  readonly sliceMs?: number;
  /** How often the loop is looked at. Default 50. */
  readonly lookMs?: number;
  /** Of what work holds in memory. Default: 128 MiB each, 192 MiB a project, 256 MiB in all. */
  readonly memory?: MemoryBounds | undefined;
};

const projectsMax = 1_000;
const unbounded: WorkAmounts = {
  steps: Number.POSITIVE_INFINITY,
  bytes: Number.POSITIVE_INFINITY,
  ms: Number.POSITIVE_INFINITY,
};

/** Makes the meter of a node. */
export function createWorkMeter({
  heldMs = 250,
  sliceMs = 10,
  lookMs = 50,
  ...options
}: WorkMeterOptions = {}): WorkMeter {
  const turns = createTurns();
  const spareTime = createSpareTime();
  const memory = createHeldMemory(options.memory);
  const byProject = new Map<string, number>();
  const listeners: ((held: HeldLoop) => void)[] = [];
  const watch = createWatch({ heldMs, lookMs }, (held) => {
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
          // A part of a part is timed with it.
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
    onHeld: (listener) => {
      listeners.push(listener);
    },
    start: watch.start,
    stop: watch.stop,
  };
}

type LoopMonitor = Pick<WorkMeter, "start" | "stop"> & {
  /** An owner is at work from now on; answers the monotonic time. */
  enter(owner: WorkOwner): number;
  /** The CPU milliseconds of this thread at a time, at most 5 ms before it. */
  cpuMsAt(nowMs: number): number;
  /** A timed part is over; answers how long it took. */
  leave(owner: WorkOwner, startedMs: number, startedCpuMs: number): number;
};

const noOwner: WorkOwner = { projectId: "" };

/** Of the time that the loop was held, what the CPU has worked at least: on a busy machine a process waits without holding anything. */
const cpuShare = 0.5;

/** How old a reading of the CPU's clock may be that stands for the present, milliseconds: little beside what is told of. */
const cpuReadMs = 5;

/** CPU milliseconds of this thread. */
function cpuNowMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Notices that the loop is held in two ways: by a part that takes too long, which names its owner for sure; and by its own timer
 * that comes late though no part was long, where whoever was at work for most of the time is named.
 */
function createWatch(
  { heldMs, lookMs }: { readonly heldMs: number; readonly lookMs: number },
  onHeld: (held: HeldLoop) => void,
): LoopMonitor {
  let timer: NodeJS.Timeout | undefined;
  let lookedMs = 0;
  let lookedCpuMs = 0;
  let read = { atMs: Number.NEGATIVE_INFINITY, cpuMs: 0 };
  /** Who has been at work since when, and who was for the longest stretch since the last look. */
  let current = noOwner;
  let sinceMs = performance.now();
  let longest = { owner: noOwner, ms: 0 };
  let isTold = false;
  const turnTo = (owner: WorkOwner): number => {
    const nowMs = performance.now();
    if (nowMs - sinceMs > longest.ms) longest = { owner: current, ms: nowMs - sinceMs };
    current = owner;
    sinceMs = nowMs;
    return nowMs;
  };
  const look = () => {
    const nowMs = turnTo(current);
    const lateMs = nowMs - lookedMs - lookMs;
    const cpuMs = cpuNowMs();
    if (lateMs >= heldMs && !isTold && cpuMs - lookedCpuMs >= heldMs * cpuShare) {
      onHeld({ ...longest.owner, ms: Math.round(lateMs), isMeasured: false });
    }
    lookedCpuMs = cpuMs;
    lookedMs = nowMs;
    longest = { owner: noOwner, ms: 0 };
    isTold = false;
  };
  return {
    enter: turnTo,
    cpuMsAt(nowMs) {
      // Reading that clock costs as much as a short part does.
      if (nowMs - read.atMs >= cpuReadMs) read = { atMs: nowMs, cpuMs: cpuNowMs() };
      return read.cpuMs;
    },
    leave(owner, startedMs, startedCpuMs) {
      const ms = turnTo(owner) - startedMs;
      if (ms >= heldMs && cpuNowMs() - startedCpuMs >= heldMs * cpuShare) {
        isTold = true;
        onHeld({ ...owner, ms: Math.round(ms), isMeasured: true });
      }
      return ms;
    },
    start() {
      lookedMs = turnTo(noOwner);
      lookedCpuMs = cpuNowMs();
      longest = { owner: noOwner, ms: 0 };
      timer ??= setInterval(look, lookMs);
      timer.unref();
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
