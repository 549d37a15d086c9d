/**
 * Limits, in bytes, on the memory that tasks of a node keep while other work runs on the event loop. `projectMax` must be at least
 * `eachMax`, and `nodeMax` at least `projectMax`.
 */
export type MemoryBounds = {
  /** Maximum memory for one task, in bytes. */
  readonly eachMax: number;
  /** Maximum memory for all tasks of one project together, in bytes. */
  readonly projectMax: number;
  /** Maximum memory for all tasks of the node together, in bytes. */
  readonly nodeMax: number;
};

/** The memory account of one task: how much memory it has been granted. Always call `release` when the task ends, also after an error. */
export type MemoryHold = {
  /** Bytes granted to the task so far. */
  readonly bytes: number;
  /** Maximum bytes of memory that may be granted to the task. */
  readonly bytesMax: number;
  /**
   * Requests more bytes; call it before you use the memory. Returns true if the bytes are granted at once. Returns a promise if other tasks
   * must release memory first; the promise resolves when the bytes are granted. Returns false and grants nothing if the task would exceed
   * its limit.
   */
  take(bytes: number): boolean | Promise<void>;
  /** Cancels this task's request for more memory, if it still waits. */
  withdraw(): void;
  /** Releases all memory that the task holds. This object cannot be used after that. */
  release(): void;
};

/**
 * The memory that tasks of a node may keep while they wait. All tasks of the node request it here, so that together they stay within the
 * node's limit.
 */
export type HeldMemory = {
  /** Opens a memory account for a task of a project. An account costs nothing until the task requests memory. */
  open(projectId: string): MemoryHold;
  /** Returns the current usage. `bytes`: memory that tasks hold. `waiting`: number of tasks that wait for memory. */
  stats(): { readonly bytes: number; readonly waiting: number };
};

const mib = 1_048_576;

/** Limits that apply if the caller gives none. */
const defaultBounds: MemoryBounds = { eachMax: 128 * mib, projectMax: 192 * mib, nodeMax: 256 * mib };

/**
 * Creates the shared memory of a node. Tasks request memory step by step, so two tasks could each hold half of it and wait for each other
 * forever. Therefore a request is granted only if at least one task can still reach its limit afterwards (the banker's algorithm). That
 * task can end, and then releases its memory. Tasks that already hold memory come first; for new tasks, projects take turns.
 */
export function createHeldMemory(bounds: MemoryBounds = defaultBounds): HeldMemory {
  const memory = new Memory(bounds);
  return {
    open: (projectId) => memory.open(projectId),
    stats: () => memory.stats(),
  };
}

type QueuedHold = { readonly hold: Hold; readonly bytes: number; grant(): void };

class Memory {
  readonly #bounds: MemoryBounds;
  /** Tasks that hold memory at present, by project id. Each entry records how much memory a task holds. */
  readonly #holding = new Map<string, Set<Hold>>();
  /** Requests of tasks that hold no memory yet, by project id, in the order of the projects' turns. */
  readonly #newcomers = new Map<string, QueuedHold[]>();
  readonly #growing = new Set<QueuedHold>();

  constructor(bounds: MemoryBounds) {
    this.#bounds = bounds;
  }

  open(projectId: string): MemoryHold {
    return new Hold(this, projectId, this.#bounds.eachMax);
  }

  stats(): { readonly bytes: number; readonly waiting: number } {
    let waiting = this.#growing.size;
    for (const line of this.#newcomers.values()) waiting += line.length;
    return { bytes: sumOf(this.#all()), waiting };
  }

  take(hold: Hold, bytes: number): boolean | { readonly waiting: QueuedHold; readonly granted: Promise<void> } {
    if (hold.bytes + bytes > this.#bounds.eachMax) return false;
    const mayPass = hold.bytes > 0 || (this.#growing.size === 0 && this.#newcomers.size === 0);
    if (mayPass && this.#fits(hold, bytes)) {
      this.#grant(hold, bytes);
      return true;
    }
    const { promise: granted, resolve: grant } = Promise.withResolvers<void>();
    const waiting = { hold, bytes, grant };
    if (hold.bytes > 0) this.#growing.add(waiting);
    else this.#lineOf(hold.projectId).push(waiting);
    // Checks all waiting requests for memory again. The free memory may be enough for the new request, or for one of another project, even
    // if older requests must still wait.
    this.#serve();
    return { waiting, granted };
  }

  withdraw(waiting: QueuedHold): void {
    this.#growing.delete(waiting);
    const { projectId } = waiting.hold;
    const line = this.#newcomers.get(projectId)?.filter((other) => other !== waiting);
    if (line?.length === 0) this.#newcomers.delete(projectId);
    else if (line !== undefined) this.#newcomers.set(projectId, line);
    this.#serve();
  }

  release(hold: Hold): void {
    const holds = this.#holding.get(hold.projectId);
    holds?.delete(hold);
    if (holds?.size === 0) this.#holding.delete(hold.projectId);
    hold.bytes = 0;
    this.#serve();
  }

  #lineOf(projectId: string): QueuedHold[] {
    const line = this.#newcomers.get(projectId) ?? [];
    this.#newcomers.set(projectId, line);
    return line;
  }

  *#all(): Generator<Hold> {
    for (const holds of this.#holding.values()) yield* holds;
  }

  #fits(hold: Hold, bytes: number): boolean {
    return this.#fitsProject(hold, bytes) && this.#fitsNode(hold, bytes);
  }

  #fitsProject(hold: Hold, bytes: number): boolean {
    return this.#leavesRoom(this.#holding.get(hold.projectId) ?? [], hold, { bytes, max: this.#bounds.projectMax });
  }

  #fitsNode(hold: Hold, bytes: number): boolean {
    return this.#leavesRoom(this.#all(), hold, { bytes, max: this.#bounds.nodeMax });
  }

  /**
   * True if the task of `hold` may get `bytes` more memory. Afterwards, the task with the most memory must still be able to reach its
   * maximum and end.
   */
  #leavesRoom(holds: Iterable<Hold>, hold: Hold, { bytes, max }: { bytes: number; max: number }): boolean {
    let sum = bytes;
    let most = hold.bytes + bytes;
    for (const other of holds) {
      sum += other.bytes;
      most = Math.max(most, other.bytes);
    }
    return sum - most + this.#bounds.eachMax <= max;
  }

  #grant(hold: Hold, bytes: number): void {
    hold.bytes += bytes;
    const holds = this.#holding.get(hold.projectId) ?? new Set();
    this.#holding.set(hold.projectId, holds.add(hold));
  }

  #serve(): void {
    for (const waiting of [...this.#growing].sort((a, b) => b.hold.bytes - a.hold.bytes)) {
      const { hold, bytes, grant } = waiting;
      if (!this.#fits(hold, bytes)) continue;
      this.#growing.delete(waiting);
      this.#grant(hold, bytes);
      grant();
    }
    while (this.#serveNewcomer()) {
      // Starts waiting tasks that have no memory yet, one after the other. After each, the next project has its turn. The loop ends when no
      // waiting task can get its memory.
    }
  }

  /**
   * Grants memory to the first task that has none yet and for which there is enough. Returns true if such a task starts, false if none can
   * start.
   */
  #serveNewcomer(): boolean {
    for (const [projectId, line] of this.#newcomers) {
      const [first] = line;
      if (first === undefined || this.#isOwed(projectId) || !this.#fits(first.hold, first.bytes)) continue;
      line.shift();
      this.#newcomers.delete(projectId);
      if (line.length > 0) this.#newcomers.set(projectId, line);
      this.#grant(first.hold, first.bytes);
      first.grant();
      return true;
    }
    return false;
  }

  /** True if a new task of the project must wait, because a running task waits for the same memory. */
  #isOwed(projectId: string): boolean {
    // Tasks that wait only for the node's memory come first, and so do tasks of the same project.
    for (const { hold, bytes } of this.#growing) {
      if (hold.projectId === projectId || this.#fitsProject(hold, bytes)) return true;
    }
    return false;
  }
}

function sumOf(holds: Iterable<Hold>): number {
  let sum = 0;
  for (const { bytes } of holds) sum += bytes;
  return sum;
}

class Hold implements MemoryHold {
  bytes = 0;
  readonly bytesMax: number;
  readonly projectId: string;
  readonly #memory: Memory;
  #waiting: QueuedHold | undefined;
  #isReleased = false;

  constructor(memory: Memory, projectId: string, bytesMax: number) {
    this.#memory = memory;
    this.projectId = projectId;
    this.bytesMax = bytesMax;
  }

  take(bytes: number): boolean | Promise<void> {
    if (this.#isReleased || this.#waiting !== undefined)
      throw new Error("memory is taken piece by piece, until it is released");
    const taken = this.#memory.take(this, bytes);
    if (typeof taken === "boolean") return taken;
    this.#waiting = taken.waiting;
    return taken.granted.then(() => {
      this.#waiting = undefined;
    });
  }

  withdraw(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    this.#memory.withdraw(waiting);
  }

  release(): void {
    this.withdraw();
    this.#isReleased = true;
    if (this.bytes > 0) this.#memory.release(this);
  }
}
