import type { StandingRunId } from "@svc/core";
import type { NewStandingRun, StandingRunChange, StandingRunRecord } from "@svc/db/standing/runs";

/** The runs that one book decides about: of each, what was decided last is written. */
export class DecidedRuns {
  /** New ones, in the order of their decisions. */
  readonly added: NewStandingRun[] = [];
  /** Of those that waited. */
  readonly changes: StandingRunChange[] = [];
  /** What became of windows whose time was over. */
  readonly closed = new Map<StandingRunId, StandingRunRecord>();
  /** Where new runs stand, by their ids, and changes. */
  readonly #newAt = new Map<StandingRunId, number>();
  readonly #changeAt = new Map<StandingRunId, number>();

  /** New ones, and windows whose time was over. */
  get decided(): (NewStandingRun | StandingRunRecord)[] {
    return [...this.added, ...this.closed.values()];
  }

  /** Those of them that wait for their turn. */
  get queued(): (NewStandingRun | StandingRunRecord)[] {
    return this.decided.filter(({ state }) => state === "queued");
  }

  /** A run that is left out as the one before it was is counted in that. */
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

  /** A new run, whatever was before it. */
  add(run: NewStandingRun): void {
    this.#newAt.set(run.id, this.added.push(run) - 1);
  }

  /** Of a run that waited, what was decided last is written. */
  change(change: StandingRunChange): void {
    const at = this.#changeAt.get(change.id);
    if (at === undefined) this.#changeAt.set(change.id, this.changes.push(change) - 1);
    else this.changes[at] = change;
  }

  /** Decides otherwise about a run that is not in the store yet, or was a window; false for any other. */
  rewrite(id: StandingRunId, as: Partial<NewStandingRun & StandingRunRecord>): boolean {
    const closed = this.closed.get(id);
    if (closed !== undefined) this.closed.set(id, { ...closed, ...as });
    const at = this.#newAt.get(id);
    const run = at === undefined ? undefined : this.added[at];
    if (at !== undefined && run !== undefined) this.added[at] = { ...run, ...as };
    return closed !== undefined || run !== undefined;
  }

  /** A window whose time was over, as it was decided about. */
  close(run: StandingRunRecord): void {
    this.closed.set(run.id, run);
  }
}
