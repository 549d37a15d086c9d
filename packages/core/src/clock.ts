/** Source of time. Every engine takes a clock as a parameter, so that tests can control the time. */
export type Clock = {
  /** Current time, epoch milliseconds. */
  now(): number;
  /** Resolves after `ms` milliseconds, or as soon as `signal` aborts. Never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
};

/** The clock of this machine. Engines use it except in tests, which have a clock of their own. */
export const systemClock: Clock = { now: () => Date.now(), wait: waitOnMachine };

/**
 * Returns a clock that shows the time of `base` plus an offset, which `setOffset` changes. Nodes use it to follow the clock of their shared
 * database, so that a lease (right to a task) ends at the same time on all nodes.
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
