import { type Clock, LeastRecentlyUsed, type ProjectId } from "@svc/core";

/**
 * Maximum number of requests for vectors of search queries that run at the embeddings endpoint at the same time. `all`: for all projects
 * together. `project`: for one project.
 */
type RoomLimits = { readonly all: number; readonly project: number };

/** Releases a slot (the right to send a search query to the embeddings endpoint). Later calls have no effect. */
export type ReleaseSlot = () => void;

type Waiter = (leave: ReleaseSlot | undefined) => void;

/**
 * Requests of one project to the embeddings endpoint for the texts of queries. `underWay`: number of running requests. `waiting`: requests
 * that wait for a slot, oldest first.
 */
type Line = { underWay: number; readonly waiting: Set<Waiter> };

/**
 * Gives projects slots (the right to send a search query to the embeddings endpoint) in a fair way. A project has at most its maximum of
 * slots. If all slots are taken, the next free slot goes to the waiting project with the fewest running queries. If several have equally
 * few, it goes to the project that has waited longest since its last slot.
 */
export class QuestionRoom {
  readonly #clock: Clock;
  readonly #limits: RoomLimits;
  /** Projects, sorted by when they last got a slot, longest ago first. */
  readonly #lines = new Map<ProjectId, Line>();
  #underWay = 0;

  constructor(clock: Clock, limits: RoomLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * Waits for a slot (the right to send a query to the endpoint), and returns the function that releases it. Returns undefined at once if
   * the project has no further slot. Returns undefined after `waitMs` milliseconds if no slot became free.
   */
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

/**
 * Pause in milliseconds after a late or failed answer of the embeddings endpoint. During the pause, searches of the project do not ask the
 * endpoint. `firstMs`: first pause. The pause doubles with each consecutive failure, up to `maxMs`.
 */
const pause = { firstMs: 5_000, maxMs: 60_000 };
/** Maximum number of projects for which this node remembers that their requests to the embeddings endpoint failed. */
const projectsMax = 10_000;

type Trouble = { failures: number; pausedUntilMs: number; isProbed: boolean };

/**
 * Projects whose searches do not use the embeddings endpoint for some time, because a request failed. A project's own texts may be the
 * cause, so each project has its own pause.
 */
export class ProjectPauses {
  readonly #troubles = new LeastRecentlyUsed<ProjectId, Trouble>(projectsMax);

  /**
   * Returns true if a search of the project may now ask the embeddings endpoint for a vector. After a failure, no search may ask for some
   * time. Then only one search may ask, as a test. All others get false until the test search calls `succeeded`, `failed` or `withdrew`.
   */
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

  /**
   * After a failed request and a pause, one search of the project tests the embeddings endpoint. Call this function if that search did not
   * ask the endpoint after all. The next search then becomes the test.
   */
  withdrew(projectId: ProjectId): void {
    const trouble = this.#troubles.get(projectId);
    if (trouble !== undefined) trouble.isProbed = false;
  }

  failed(projectId: ProjectId, nowMs: number): void {
    const { failures, pausedUntilMs } = this.#troubles.get(projectId) ?? { failures: 0, pausedUntilMs: 0 };
    // After a failed request, the project's requests to the embeddings endpoint pause. A failure during this pause is not counted, because
    // its request was sent before the pause.
    const next =
      nowMs < pausedUntilMs
        ? { failures, pausedUntilMs }
        : { failures: failures + 1, pausedUntilMs: nowMs + Math.min(pause.maxMs, pause.firstMs * 2 ** failures) };
    this.#troubles.set(projectId, { ...next, isProbed: false });
  }
}
