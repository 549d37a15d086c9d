/** Source of time. Every engine takes one, so that tests can control it. */
export type Clock = {
  /** Current time, epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts; never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
};

/** The machine's own clock. */
export const systemClock: Clock = { now: () => Date.now(), wait: waitOnMachine };

/**
 * Returns a clock that runs like `base`, shifted by the last `setOffset`. Nodes with one database shift theirs to the database's clock, so
 * that leases end at the same time on all of them.
 */
export function createOffsetClock(base: Clock): Clock & { setOffset(ms: number): void } {
  let offsetMs = 0;
  return {
    now: () => base.now() + offsetMs,
    wait: (ms, signal) => base.wait(ms, signal),
    setOffset: (ms) => {
      offsetMs = ms;
    },
  };
}

function waitOnMachine(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish, { once: true });
  });
}
