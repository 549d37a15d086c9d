/** Where time comes from. Every engine takes one, so that a test can set it. */
export type Clock = {
  /** The present, epoch milliseconds. */
  now(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts; never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
};

/** The machine's own clock. */
export const systemClock: Clock = { now: () => Date.now(), wait: waitOnMachine };

/**
 * A clock that runs like `base`, moved by what `setOffset` last set. Nodes that share a database move theirs onto the
 * database's clock, so that a lease means the same to each of them.
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
