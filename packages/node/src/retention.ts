import type { Clock, Sweep } from "@svc/core";

/** Settings of the loops that delete expired rows. `onError`: receives the error of a failed round. */
export type RetentionOptions = {
  readonly clock: Clock;
  readonly sweeps: readonly Sweep[];
  onError(what: string, error: unknown): void;
};

/** Pause in milliseconds between two batches of deleted rows, so that the deletion of many old rows does not slow down requests. */
const batchPauseMs = 50;

/**
 * Starts every sweep (a regular task, such as the deletion of expired events): one run at once, and then another run after each pause,
 * until stopped. The sweeps run independently, so that a long run of one does not delay the others.
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

/**
 * Runs one round of a sweep (a loop that deletes expired rows). The round ends when all expired rows are deleted, or when `signal` aborts.
 */
async function sweepRound({ round }: Sweep, clock: Clock, signal: AbortSignal): Promise<void> {
  for await (const isFull of round(clock.now())) {
    if (isFull) await clock.wait(batchPauseMs, signal);
    if (signal.aborted) return;
  }
}
