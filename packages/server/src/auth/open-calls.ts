import { type Clock, Fault } from "@svc/core";
import { startLoop } from "../loop.ts";

/** Calls under way, each of which goes on only while its caller may make it: streams, and whatever else takes longer than a second. */
export type OpenCalls = {
  /** Has `end` end a call once `authenticate` rejects with a fault. */
  watch(authenticate: () => Promise<unknown>, end: (fault: Fault) => void): CallWatch;
  /** Looks after none any more. */
  stop(): Promise<void>;
};

/** The watch over one call. */
export type CallWatch = {
  /** Looks once more before an answer is given, if the call took longer than a second. Rejects with the fault that ends the call. */
  confirm(): Promise<unknown> | undefined;
  /** Ends the watch. */
  end(): void;
};

type WatchedCall = {
  readonly authenticate: () => Promise<unknown>;
  readonly end: (fault: Fault) => void;
  readonly sinceMs: number;
};

/** With a second for what is remembered of keys and sessions, a call ends within two. */
const everyMs = 1_000;
/** So many callers are asked for at once: the store has other work. */
const atOnce = 20;

/** Starts to look after calls once a second. A store that is away ends none: `onError` hears of it. */
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
