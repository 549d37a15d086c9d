import { type Clock, LeastRecentlyUsed, type ProjectId } from "@svc/core";

/** How many questions may be under way at once: of all projects together, and of one. */
type RoomLimits = { readonly all: number; readonly project: number };

/** Gives the place back, once. */
export type ReleaseSlot = () => void;

type Waiter = (leave: ReleaseSlot | undefined) => void;

/** One project's questions: how many are under way, and those that wait for a place, in the order they came. */
type Line = { underWay: number; readonly waiting: Set<Waiter> };

/**
 * Room for questions, shared fairly: no project has more than its share, and where all places are taken the next one that is free goes to the
 * project with the fewest under way; of equals, to the one whose turn was longest ago.
 */
export class QuestionRoom {
  readonly #clock: Clock;
  readonly #limits: RoomLimits;
  /** In the order of their last turns. */
  readonly #lines = new Map<ProjectId, Line>();
  #underWay = 0;

  constructor(clock: Clock, limits: RoomLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** A place: undefined at once where the project has its share, and after `waitMs` where no place came free. */
  async enter(projectId: ProjectId, waitMs: number): Promise<ReleaseSlot | undefined> {
    const line = this.#lines.get(projectId) ?? { underWay: 0, waiting: new Set() };
    if (line.underWay + line.waiting.size >= this.#limits.project) return undefined;
    this.#lines.set(projectId, line);
    if (this.#underWay < this.#limits.all) return this.#take(projectId, line);
    const over = new AbortController();
    return new Promise((resolve) => {
      const waiter: Waiter = (leave) => {
        line.waiting.delete(waiter);
        over.abort();
        this.#forgetIdle(projectId, line);
        resolve(leave);
      };
      line.waiting.add(waiter);
      void this.#clock.wait(waitMs, over.signal).then(() => {
        if (!over.signal.aborted) waiter(undefined);
      });
    });
  }

  #take(projectId: ProjectId, line: Line): ReleaseSlot {
    this.#lines.delete(projectId);
    this.#lines.set(projectId, line);
    this.#underWay++;
    line.underWay++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#underWay--;
      line.underWay--;
      this.#forgetIdle(projectId, line);
      this.#callNext();
    };
  }

  #callNext(): void {
    let next: readonly [ProjectId, Line] | undefined;
    for (const [projectId, line] of this.#lines) {
      if (line.waiting.size > 0 && line.underWay < (next?.[1].underWay ?? Number.POSITIVE_INFINITY))
        next = [projectId, line];
    }
    const [waiter] = next?.[1].waiting ?? [];
    if (next !== undefined && waiter !== undefined) waiter(this.#take(...next));
  }

  #forgetIdle(projectId: ProjectId, line: Line): void {
    if (line.underWay === 0 && line.waiting.size === 0) this.#lines.delete(projectId);
  }
}

/** How long no search of a project asks once an answer was late or none: doubled each time in a row, up to the most. */
const pause = { firstMs: 5_000, maxMs: 60_000 };
/** Projects with failures that are remembered. */
const projectsMax = 10_000;

type Trouble = { failures: number; pausedUntilMs: number; isProbed: boolean };

/** Which projects' searches do without the endpoint for a while. What one asks may be what fails, so each has pauses of its own. */
export class ProjectPauses {
  readonly #troubles = new LeastRecentlyUsed<ProjectId, Trouble>(projectsMax);

  /** Whether a search may ask. After a pause one finds out, and the others go without until `succeeded`, `failed` or `withdrew`. */
  mayAsk(projectId: ProjectId, nowMs: number): boolean {
    const trouble = this.#troubles.get(projectId);
    if (trouble === undefined) return true;
    if (trouble.isProbed || nowMs < trouble.pausedUntilMs) return false;
    trouble.isProbed = true;
    return true;
  }

  succeeded(projectId: ProjectId): void {
    this.#troubles.delete(projectId);
  }

  /** The search that was let go neither failed nor not. */
  withdrew(projectId: ProjectId): void {
    const trouble = this.#troubles.get(projectId);
    if (trouble !== undefined) trouble.isProbed = false;
  }

  failed(projectId: ProjectId, nowMs: number): void {
    const { failures, pausedUntilMs } = this.#troubles.get(projectId) ?? { failures: 0, pausedUntilMs: 0 };
    // Many may fail together: that is one failure.
    const next =
      nowMs < pausedUntilMs
        ? { failures, pausedUntilMs }
        : { failures: failures + 1, pausedUntilMs: nowMs + Math.min(pause.maxMs, pause.firstMs * 2 ** failures) };
    this.#troubles.set(projectId, { ...next, isProbed: false });
  }
}
