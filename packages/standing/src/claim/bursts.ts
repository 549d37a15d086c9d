import type { ProjectId } from "@svc/core";
import type { ClaimedDueTask } from "@svc/db/standing/claim";

/** Maximum delay of jobs, in milliseconds, however many programs are due. */
const delayMaxMs = 5_000;
/** Assumed starts per millisecond, over all nodes, until the pace was measured. */
const usualPace = 2;
/** Share of the measured pace that is assumed: jobs that begin too early take processor time from programs that are yet to start. */
const paceShare = 0.8;

/**
 * Delays new jobs during a burst: if more programs of a project are due than were claimed, svc starts these programs first and their jobs
 * afterwards. Both need the same processors, and a run is on time by its start.
 */
export class Bursts {
  readonly #batchMax: number;
  /** Due programs of each project that had a burst, as of the last claim. */
  #last: { readonly atMs: number; readonly due: ReadonlyMap<ProjectId, number> } = { atMs: 0, due: new Map() };

  constructor(batchMax: number) {
    this.#batchMax = batchMax;
  }

  /** Takes the tasks of a claim. Returns the delay of jobs in milliseconds, for each project that has a burst. */
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

  /** Returns how many programs of a project start per millisecond, on all nodes. */
  #paceOf(projectId: ProjectId, left: number, atMs: number): number {
    const before = this.#last.due.get(projectId);
    const tookMs = atMs - this.#last.atMs;
    if (before === undefined || before <= left || tookMs <= 0) return usualPace;
    return ((before - left) / tookMs) * paceShare;
  }
}
