import type { ProjectId } from "@svc/core";
import type { ClaimedDueTask } from "@svc/db/standing/claim";

/** Maximum time in milliseconds by which jobs are delayed, however many programs are due. */
const delayMaxMs = 5_000;
/** Assumed starts per millisecond on all nodes together, until the pace was measured. */
const usualPace = 2;
/**
 * Part of the measured pace that the delay assumes. If jobs begin too early, they take processor time from programs that have not started
 * yet.
 */
const paceShare = 0.8;

/**
 * Delays new jobs during a burst. In a burst more programs of a project are due than one claim takes. svc then starts all programs first
 * and runs their jobs afterwards, because both need the same processors and only the start of a run must be on time.
 */
export class Bursts {
  readonly #batchMax: number;
  /** The last claim: its time, and the number of due programs of each project with a burst. */
  #last: { readonly atMs: number; readonly due: ReadonlyMap<ProjectId, number> } = { atMs: 0, due: new Map() };

  constructor(batchMax: number) {
    this.#batchMax = batchMax;
  }

  /** Records the tasks of a claim. Returns for each project with a burst by how many milliseconds its jobs are delayed. */
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
