import { type Clock, Fault } from "@svc/core";
import { startLoop } from "../loop.ts";

/** Calls that go on for as long as their callers like, each only while its caller may make it. */
export type OpenStreams = {
  /** Has `end` end a call once `authenticate` rejects with a fault; the function that is returned ends the watch. */
  watch(authenticate: () => Promise<unknown>, end: (fault: Fault) => void): () => void;
  /** Looks after none any more. */
  stop(): Promise<void>;
};

type Watched = { readonly authenticate: () => Promise<unknown>; readonly end: (fault: Fault) => void };

/** With a second for what is remembered of keys and sessions, a stream ends within two. */
const everyMs = 1_000;
/** So many callers are asked for at once: the store has other work. */
const atOnce = 20;

/** Starts to look after streams once a second. A store that is away ends none: `onError` hears of it. */
export function startOpenStreams({ clock, onError }: { clock: Clock; onError: (error: unknown) => void }): OpenStreams {
  const watched = new Set<Watched>();
  const look = async (one: Watched) => {
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
      const one = { authenticate, end };
      watched.add(one);
      return () => void watched.delete(one);
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
