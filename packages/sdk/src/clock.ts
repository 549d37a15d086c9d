/**
 * The clock and the source of random numbers that the client uses. The client is a separate package, so it cannot use those of @svc/core.
 */
export type ClientClock = {
  /** Returns the current time in epoch milliseconds. */
  now(): number;
  /** Returns a random number from 0 up to, not including, 1. */
  random(): number;
  /** Resolves after `ms` milliseconds. If the signal aborts earlier, rejects at once with the signal's reason. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
};

/** The clock of the machine the client runs on. */
export const machineClock: ClientClock = {
  now: () => Date.now(),
  random: () => Math.random(),
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", stop);
        resolve();
      }, ms);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    }),
};
