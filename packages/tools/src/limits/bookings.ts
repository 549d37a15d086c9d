/** Between two jobs that come back, at least; so many a second are no burden on a node. */
const stepMinMs = 50;
/** So far ahead jobs are booked while that does not bring them back too close together: a limit may be lifted meanwhile. */
const horizonMs = 60_000;

/**
 * When a job may come back at the earliest, the time that one call takes up at the limit, and since when the job has waited. Milliseconds.
 */
export type BookingTimes = {
  readonly nowMs: number;
  readonly earliestMs: number;
  readonly stepMs: number;
  readonly sinceMs: number;
};

/** `claimed`: a call of the job has come back and waits in its place; others of the same job wait in their own. */
type Booking = { readonly atMs: number; readonly sinceMs: number; claimed: boolean };

/** A job that has come back counts as one that waits for this long. */
const graceMs = 5_000;

/**
 * When the jobs that wait for one place come back: one after the other, about as fast as places become free, so that ten thousand of
 * them neither ask all the time nor crowd out what could be done. A node books its own.
 */
export class Bookings {
  /** In the order in which they were made, which is that of the times. */
  readonly #bookings = new Map<string, Booking>();
  #last = 0;

  /** When a job is to come back, epoch milliseconds. Booked once until then, however often it asks. */
  book(jobId: string, { nowMs, earliestMs, stepMs, sinceMs }: BookingTimes): number {
    const known = this.#bookings.get(jobId);
    if (known !== undefined && known.atMs > nowMs) return known.atMs;
    this.#bookings.delete(jobId);
    const waiting = this.count(nowMs);
    const step = Math.max(stepMinMs, Math.min(stepMs, horizonMs / (waiting + 1)));
    this.#last = Math.ceil(Math.max(earliestMs, waiting === 0 ? 0 : this.#last + step));
    const waitsSinceMs = Math.min(sinceMs, known?.sinceMs ?? sinceMs);
    this.#bookings.set(jobId, { atMs: this.#last, sinceMs: waitsSinceMs, claimed: false });
    return this.#last;
  }

  /** Whether a job comes back when it was told to. */
  isDue(jobId: string, nowMs: number): boolean {
    const booking = this.#bookings.get(jobId);
    return booking !== undefined && booking.atMs <= nowMs;
  }

  /** Since when a job that is due has waited, epoch milliseconds: for one of its calls, which stands where the job stood. */
  claim(jobId: string): number | undefined {
    const booking = this.#bookings.get(jobId);
    if (booking === undefined || booking.claimed) return undefined;
    booking.claimed = true;
    return booking.sinceMs;
  }

  /** A job that need not come back. */
  end(jobId: string): void {
    this.#bookings.delete(jobId);
  }

  /** Jobs that are to come back. */
  count(nowMs: number): number {
    for (const [jobId, { atMs }] of this.#bookings) {
      if (atMs + graceMs > nowMs) break;
      this.#bookings.delete(jobId);
    }
    return this.#bookings.size;
  }
}
