/** Between two jobs that come back, at least; so many a second are no burden on a node. */
const stepMinMs = 50;
/** So far ahead jobs are booked while that does not bring them back too close together: a limit may be lifted meanwhile. */
const horizonMs = 60_000;

/** When a job may come back at the earliest, and the time that one call takes up at the limit. Milliseconds. */
export type BookingTimes = { readonly nowMs: number; readonly earliestMs: number; readonly stepMs: number };

/** A job that has come back counts as one that waits for this long. */
const graceMs = 5_000;

/**
 * When the jobs that wait for one place come back: one after the other, about as fast as places become free, so that ten thousand of
 * them neither ask all the time nor crowd out what could be done. A node books its own.
 */
export class Bookings {
  /** In the order in which they were made, which is that of the times. */
  readonly #times = new Map<string, number>();
  #last = 0;

  /** When a job is to come back, epoch milliseconds. Booked once until then, however often it asks. */
  book(jobId: string, { nowMs, earliestMs, stepMs }: BookingTimes): number {
    const known = this.#times.get(jobId);
    if (known !== undefined && known > nowMs) return known;
    this.#times.delete(jobId);
    const waiting = this.count(nowMs);
    const step = Math.max(stepMinMs, Math.min(stepMs, horizonMs / (waiting + 1)));
    this.#last = Math.ceil(Math.max(earliestMs, waiting === 0 ? 0 : this.#last + step));
    this.#times.set(jobId, this.#last);
    return this.#last;
  }

  /** Whether a job comes back when it was told to. */
  isDue(jobId: string, nowMs: number): boolean {
    const at = this.#times.get(jobId);
    return at !== undefined && at <= nowMs;
  }

  /** A job that need not come back. */
  end(jobId: string): void {
    this.#times.delete(jobId);
  }

  /** Jobs that are to come back. */
  count(nowMs: number): number {
    for (const [jobId, at] of this.#times) {
      if (at + graceMs > nowMs) break;
      this.#times.delete(jobId);
    }
    return this.#times.size;
  }
}
