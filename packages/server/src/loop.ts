import type { Clock } from "@svc/core";

/** Background work that is repeated until it is stopped. */
export type Loop = { /** Ends the wait, lets a run under way finish, and starts no other. */ stop(): Promise<void> };

/**
 * Runs `run` repeatedly. The first run starts after `everyMs`; each other run starts `everyMs` after the previous run has ended. Errors are
 * passed to `onError`.
 */
export function startLoop(options: {
  clock: Clock;
  everyMs: number;
  run: () => Promise<void>;
  onError: (error: unknown) => void;
}): Loop {
  const stopping = new AbortController();
  const repeat = async () => {
    for (;;) {
      await options.clock.wait(options.everyMs, stopping.signal);
      if (stopping.signal.aborted) return;
      await options.run().catch(options.onError);
    }
  };
  const ended = repeat();
  return {
    stop() {
      stopping.abort();
      return ended;
    },
  };
}
