import { LeastRecentlyUsed, type ProjectId } from "@svc/core";

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
