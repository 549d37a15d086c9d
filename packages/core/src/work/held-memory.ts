/** Bounds of what work of a node holds in memory beyond its turns, bytes. None is less than the one before it. */
export type MemoryBounds = {
  /** Of one piece of work. */
  readonly eachMax: number;
  /** Of a project. */
  readonly projectMax: number;
  /** Of the node. */
  readonly nodeMax: number;
};

/** What one piece of work holds in memory. `release` is to be called, whatever becomes of it. */
export type MemoryHold = {
  /** What was granted so far. */
  readonly bytes: number;
  /** The most that it may have. */
  readonly bytesMax: number;
  /**
   * Asks for so many bytes more, before they are held. True where they are granted. A promise where others have to let go first: it
   * resolves when they are granted. False, and nothing is granted, where the piece would have more than one may.
   */
  take(bytes: number): boolean | Promise<void>;
  /** Waits no more for what was asked for. */
  withdraw(): void;
  /** Gives all of it back, for good. */
  release(): void;
};

/** The memory of a node for what work holds. */
export type HeldMemory = {
  /** Opens the account of a piece of work of a project. It costs nothing until something is taken. */
  open(projectId: string): MemoryHold;
  /** What is held now, and how many pieces of work wait for more. */
  stats(): { readonly bytes: number; readonly waiting: number };
};

const mib = 1_048_576;

/** The bounds that hold where nothing else is said. */
const defaultBounds: MemoryBounds = { eachMax: 128 * mib, projectMax: 192 * mib, nodeMax: 256 * mib };

/**
 * Makes the memory of a node. Work takes bit by bit, since nobody knows before how much it comes to hold; so two pieces could wait for
 * each other, each with half of all. Therefore nothing is granted that would leave no piece able to come to the most that one may have (the
 * banker's algorithm): whoever holds most can always go on, and lets go of all at its end. Who holds something goes before who holds
 * nothing, and of those projects take turns.
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
  /** Those that hold something, by project. */
  readonly #holding = new Map<string, Set<Hold>>();
  /** By project, in the order of their turns. */
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
    // It may be what nobody before it waits for: another project's share.
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

  /** Whether the one that holds most could still come to the most that one may have: at its end the next one can. */
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
      // One of each project, as long as there is room.
    }
  }

  /** Lets the first newcomer begin whom nothing but its turn keeps waiting. */
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

  /** Whether room that a newcomer would take is waited for by who holds something: of its project, or of the node. */
  #isOwed(projectId: string): boolean {
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
