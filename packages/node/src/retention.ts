import type { Clock, Sweep } from "@svc/core";

/** What the loop works with. `onError` hears of a round that failed. */
export type RetentionOptions = {
  readonly clock: Clock;
  readonly sweeps: readonly Sweep[];
  onError(what: string, error: unknown): void;
};

/** Breath between two batches, so that a large round does not crowd out the hot path. */
const batchPauseMs = 50;

/**
 * Runs every sweep, a round at once and the next ones after its pause, until stopped. They do not wait for each other: a long
 * round of events must not hold up the calls whose node is gone.
 */
export function startRetention({ clock, sweeps, onError }: RetentionOptions): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const repeat = async (sweep: Sweep) => {
    while (!stopped.signal.aborted) {
      await sweepRound(sweep, clock, stopped.signal).catch((error: unknown) => onError(sweep.what, error));
      await clock.wait(sweep.everyMs, stopped.signal);
    }
  };
  const running = Promise.all(sweeps.map(repeat));
  return {
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

/** One round; ends when nothing that is past its time is left, or `signal` aborts. */
async function sweepRound({ round }: Sweep, clock: Clock, signal: AbortSignal): Promise<void> {
  for await (const isFull of round(clock.now())) {
    if (isFull) await clock.wait(batchPauseMs, signal);
    if (signal.aborted) return;
  }
}
