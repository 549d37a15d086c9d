import type { Clock } from "@svc/core";

/** Work that is repeated in the background. */
export type Loop = { /** Ends the wait, lets a run under way finish, and starts no other. */ stop(): Promise<void> };

/** Repeats `run`, `everyMs` after the end of the one before, from `everyMs` on. What it throws goes to `onError`. */
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
