import type { ProjectId } from "@svc/core";
import type { ClaimedDueTask } from "@svc/db/standing/claim";

/** Maximum time in milliseconds for which svc delays new jobs while very many programs are due. */
const delayMaxMs = 5_000;
/** Number of programs that are assumed to start per millisecond, on all nodes together, until svc has measured this pace. */
const usualPace = 2;
/** svc assumes that programs start at 0.8 of the measured speed. Their jobs then begin a little later. */
const paceShare = 0.8;

/**
 * Delays new jobs during a burst, in which more schedules of a project are due than a node takes from the database at once. svc then starts
 * the runs of all schedules first, and runs their jobs afterwards. Both need the same processors, and only the start of a run must be on
 * time.
 */
export class Bursts {
  readonly #batchMax: number;
  /**
   * Facts that this node knew when it last claimed due tasks. `atMs`: time of that claim. `due`: for each project with very many due
   * programs, the number of its programs that were still due after that claim.
   */
  #last: { readonly atMs: number; readonly due: ReadonlyMap<ProjectId, number> } = { atMs: 0, due: new Map() };

  constructor(batchMax: number) {
    this.#batchMax = batchMax;
  }

  /**
   * Returns by how many milliseconds new jobs are delayed, by project. Only projects with very many due tasks have an entry. The next call
   * measures from these tasks how fast programs start.
   */
  delaysOf(tasks: readonly Pick<ClaimedDueTask, "projectId" | "dueOfProject">[], atMs: number): Map<ProjectId, number> {
    const delayMs = new Map<ProjectId, number>();
    const due = new Map<ProjectId, number>();
    for (const [projectId, own] of Map.groupBy(tasks, (task) => task.projectId)) {
      const [first] = own;
      const left = (first?.dueOfProject ?? 0) - own.length;
      if (left < this.#batchMax) continue;
      due.set(projectId, left);
      delayMs.set(projectId, Math.min(delayMaxMs, Math.ceil(left / this.#paceOf(projectId, left, atMs))));
    }
    this.#last = { atMs, due };
    return delayMs;
  }

  /**
   * Returns the pace of a project: how many of its programs start per millisecond, on all nodes together. `left`: number of the project's
   * programs that are still due after this node has claimed some.
   */
  #paceOf(projectId: ProjectId, left: number, atMs: number): number {
    const before = this.#last.due.get(projectId);
    const tookMs = atMs - this.#last.atMs;
    if (before === undefined || before <= left || tookMs <= 0) return usualPace;
    return ((before - left) / tookMs) * paceShare;
  }
}
