import type { StandingRunId } from "@svc/core";
import type { NewStandingRun, StandingRunChange, StandingRunRecord } from "@svc/db/standing/runs";

/**
 * The runs of one standing program (a program that starts jobs on a schedule or event) about which svc decides in one transaction. If svc
 * decides several times about one run, only the last decision is written.
 */
export class DecidedRuns {
  /** New runs, in the order of their decisions. */
  readonly added: NewStandingRun[] = [];
  /** Changes of runs that were already waiting. */
  readonly changes: StandingRunChange[] = [];
  /** Runs that collected events and whose time for collecting has now ended, each with the decision about it. */
  readonly closed = new Map<StandingRunId, StandingRunRecord>();
  /** Position of each new run in the list `added`, by run id. `#changeAt`: position of each changed run in the list `changes`. */
  readonly #newAt = new Map<StandingRunId, number>();
  readonly #changeAt = new Map<StandingRunId, number>();

  /** Returns the runs that this transaction has created, and the collecting runs whose time has ended. */
  get decided(): (NewStandingRun | StandingRunRecord)[] {
    return [...this.added, ...this.closed.values()];
  }

  /**
   * Returns the decided runs that must wait before they start, for example because another run with the same concurrency key is still
   * running.
   */
  get queued(): (NewStandingRun | StandingRunRecord)[] {
    return this.decided.filter(({ state }) => state === "queued");
  }

  /**
   * Adds a new run. If the new run is skipped, and the last added run was skipped for the same reason, no run is added. The count of that
   * last run is increased instead, so that many skipped times take only one row.
   */
  addOrCount(run: NewStandingRun): void {
    const before = this.added.at(-1);
    const isAlike =
      run.state === "skipped" &&
      before?.state === "skipped" &&
      before.reason === run.reason &&
      before.lane === run.lane &&
      before.version === run.version;
    if (!isAlike) this.add(run);
    else this.added[this.added.length - 1] = { ...before, count: before.count + 1, lastAt: run.fireAt };
  }

  /** Adds a new run. */
  add(run: NewStandingRun): void {
    this.#newAt.set(run.id, this.added.push(run) - 1);
  }

  /** Stores in this object how a waiting run changes. A later change of the same run replaces the earlier one. */
  change(change: StandingRunChange): void {
    const at = this.#changeAt.get(change.id);
    if (at === undefined) this.#changeAt.set(change.id, this.changes.push(change) - 1);
    else this.changes[at] = change;
  }

  /**
   * Changes a run that this transaction has created or closed, and returns true. A closed run has collected events, and its time for
   * collecting has ended. Returns false and changes nothing for any other run.
   */
  rewrite(id: StandingRunId, as: Partial<NewStandingRun & StandingRunRecord>): boolean {
    const closed = this.closed.get(id);
    if (closed !== undefined) this.closed.set(id, { ...closed, ...as });
    const at = this.#newAt.get(id);
    const run = at === undefined ? undefined : this.added[at];
    if (at !== undefined && run !== undefined) this.added[at] = { ...run, ...as };
    return closed !== undefined || run !== undefined;
  }

  /** Records that a collect window (a run that gathers events) is closed by this decision, so that its end is stored. */
  close(run: StandingRunRecord): void {
    this.closed.set(run.id, run);
  }
}
