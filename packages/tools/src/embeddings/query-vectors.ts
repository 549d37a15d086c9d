import { type Clock, LeastRecentlyUsed } from "@svc/core";
import { type EmbeddingsEndpoint, EmbeddingsError } from "./endpoint.ts";
import type { Vector } from "./vector.ts";

/** Vectors of what is searched for. */
export type QueryVectors = {
  /** The vector of a text within 300 ms; undefined where there is none by then. Never rejects. */
  of(text: string): Promise<Vector | undefined>;
};

/** How long a search waits for the endpoint, milliseconds. */
const waitMs = 300;
/** How long no search asks once the endpoint was late or failed: doubled each time in a row, up to the most. Then one search asks, and the others go without. */
const pause = { firstMs: 5_000, maxMs: 60_000 };
/** Queries whose vectors are kept in memory: what a program asks again and again is asked of the endpoint once. */
const keptMax = 1_000;
/** Questions under way at once. More are not asked: they would come late. */
const underWayMax = 32;

/** What it works with. `onFailed` hears of each failure that makes it pause. */
export type QueryVectorsOptions = {
  readonly endpoint: EmbeddingsEndpoint;
  readonly clock: Clock;
  readonly onFailed: (error: Error) => void;
};

/** Makes it. An answer that came late is kept for the next search of the same words. */
export function createQueryVectors({ endpoint, clock, onFailed }: QueryVectorsOptions): QueryVectors {
  const known = new LeastRecentlyUsed<string, Vector>(keptMax);
  const underWay = new Map<string, Promise<Vector>>();
  let failures = 0;
  let pausedUntil = 0;
  /** Whether a search finds out if the endpoint is well again. */
  let isProbed = false;

  const trip = (error: Error) => {
    isProbed = false;
    // Many may fail together: that is one failure.
    if (clock.now() < pausedUntil) return;
    pausedUntil = clock.now() + Math.min(pause.maxMs, pause.firstMs * 2 ** failures++);
    onFailed(error);
  };
  const ask = (text: string): Promise<Vector> => {
    const asked = underWay.get(text);
    if (asked !== undefined) return asked;
    const asking = endpoint
      .embed([text])
      .then(([vector]) => {
        if (vector === undefined) throw new EmbeddingsError("answered with no vector");
        known.set(text, vector);
        return vector;
      })
      .finally(() => underWay.delete(text));
    underWay.set(text, asking);
    return asking;
  };
  const waitFor = async (asking: Promise<Vector>): Promise<Vector | undefined> => {
    const over = new AbortController();
    const late = clock.wait(waitMs, over.signal).then(() => undefined);
    try {
      const vector = await Promise.race([asking, late]);
      if (vector === undefined) trip(new EmbeddingsError(`did not answer within ${waitMs} ms`));
      else [failures, isProbed] = [0, false];
      return vector;
    } catch (error) {
      trip(error instanceof Error ? error : new Error(String(error)));
      return undefined;
    } finally {
      over.abort();
    }
  };
  return {
    async of(text) {
      const found = known.get(text);
      if (found !== undefined) return found;
      if (clock.now() < pausedUntil || isProbed || underWay.size >= underWayMax) return undefined;
      isProbed = failures > 0;
      const asking = ask(text);
      // It may fail when nobody waits any more.
      asking.catch(() => {});
      return waitFor(asking);
    },
  };
}
