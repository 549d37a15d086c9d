import type { ProjectId } from "@svc/core";
import type { ClaimedDueTask } from "@svc/db/standing/claim";
import type { Occurrence } from "../decide/occurrence.ts";
import type { CaughtUp } from "../schedule/catch-up.ts";

/** What of a schedule is due. */
export type Fired = {
  readonly occurrences: readonly Occurrence[];
  readonly missed: CaughtUp["missed"];
  /** The next occurrence that nothing was decided about; null where there is none. */
  readonly nextAt: number | null;
  /** When it is to be decided about. */
  readonly dueAt: number | null;
};

/** Jobs wait for so long at most, in milliseconds, however many programs are due. */
const behindMaxMs = 5_000;
/** Starts in a millisecond that are reckoned with until it was seen how fast they are, over all nodes. */
const usualPace = 2;
/** Of the pace that was seen as much is reckoned with: jobs that begin too early take the processors from what is yet to be started. */
const cautiously = 0.8;

/**
 * Tells how long the jobs of what is started are to wait: where more programs of a project are due than were claimed, these are started first,
 * and the jobs begin behind them. Both need the same processors, and what is due is on time by its start.
 */
export class Herds {
  readonly #batchMax: number;
  /** What was due of a project when it was looked last, as far as it was a herd. */
  #last: { readonly atMs: number; readonly due: ReadonlyMap<ProjectId, number> } = { atMs: 0, due: new Map() };

  constructor(batchMax: number) {
    this.#batchMax = batchMax;
  }

  /** Notes what a look found; how many milliseconds the jobs of a project wait, of those that have a herd. */
  seen(tasks: readonly Pick<ClaimedDueTask, "projectId" | "dueOfProject">[], atMs: number): Map<ProjectId, number> {
    const behindMs = new Map<ProjectId, number>();
    const due = new Map<ProjectId, number>();
    for (const [projectId, own] of Map.groupBy(tasks, (task) => task.projectId)) {
      const [first] = own;
      const left = (first?.dueOfProject ?? 0) - own.length;
      if (left < this.#batchMax) continue;
      due.set(projectId, left);
      behindMs.set(projectId, Math.min(behindMaxMs, Math.ceil(left / this.#paceOf(projectId, left, atMs))));
    }
    this.#last = { atMs, due };
    return behindMs;
  }

  /** How many of a project are started in a millisecond, by all nodes. */
  #paceOf(projectId: ProjectId, left: number, atMs: number): number {
    const before = this.#last.due.get(projectId);
    const tookMs = atMs - this.#last.atMs;
    if (before === undefined || before <= left || tookMs <= 0) return usualPace;
    return ((before - left) / tookMs) * cautiously;
  }
}
