import type { Clock } from "@svc/core";

/** Repeated background work. */
export type Loop = { /** Ends the wait, lets a run under way finish, and starts no other. */ stop(): Promise<void> };

/** Repeats `run`, each time `everyMs` after the end of the last run, starting after `everyMs`. Errors are passed to `onError`. */
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
