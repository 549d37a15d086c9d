import { type Clock, Fault } from "@svc/core";
import { startLoop } from "../loop.ts";

/** Running calls that must end if their callers lose their permission: streams, and all calls that take longer than a second. */
export type OpenCalls = {
  /**
   * Watches a call until it ends. Calls `authenticate` once a second. If `authenticate` rejects with a fault, the caller has lost its
   * permission, and `end` is called with this fault.
   */
  watch(authenticate: () => Promise<unknown>, end: (fault: Fault) => void): CallWatch;
  /** Stops the regular checks of running calls. Called when the server stops. */
  stop(): Promise<void>;
};

/** A running call whose permission is checked once a second. */
export type CallWatch = {
  /**
   * Checks the caller's permission once more before the answer is sent. Returns undefined if the call took less than a second, because no
   * check is then needed. Rejects with the fault that ends the call.
   */
  confirm(): Promise<unknown> | undefined;
  /** Stops the repeated checks of this call's permission. */
  end(): void;
};

type WatchedCall = {
  readonly authenticate: () => Promise<unknown>;
  readonly end: (fault: Fault) => void;
  readonly sinceMs: number;
};

/**
 * Interval in milliseconds between checks of running calls. Keys and sessions are cached for one second, so a call without permission ends
 * within two seconds.
 */
const everyMs = 1_000;
/** Maximum number of callers that are checked at the same time, so that the database has time for other work. */
const atOnce = 20;

/**
 * Starts to check once a second if the keys of open streams and waiting calls are still valid. A call whose key is not valid any more is
 * ended. If the database is unavailable, no call is ended; `onError` receives the error.
 */
export function startOpenCalls({ clock, onError }: { clock: Clock; onError: (error: unknown) => void }): OpenCalls {
  const watched = new Set<WatchedCall>();
  const look = async (one: WatchedCall) => {
    const fault = await faultOf(one.authenticate());
    if (fault !== undefined && watched.delete(one)) one.end(fault);
  };
  const loop = startLoop({
    clock,
    everyMs,
    onError,
    run: async () => {
      const all = [...watched];
      for (let from = 0; from < all.length; from += atOnce) await Promise.all(all.slice(from, from + atOnce).map(look));
    },
  });
  return {
    watch(authenticate, end) {
      const one = { authenticate, end, sinceMs: clock.now() };
      watched.add(one);
      return {
        confirm: () => (clock.now() - one.sinceMs >= everyMs ? authenticate() : undefined),
        end: () => void watched.delete(one),
      };
    },
    stop: () => loop.stop(),
  };
}

async function faultOf(authenticated: Promise<unknown>): Promise<Fault | undefined> {
  try {
    await authenticated;
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}
