import { setImmediate } from "node:timers/promises";
import type { Toolkit } from "@svc/catalog";
import {
  lookUpVectors,
  othersMs,
  senselessTextGroup,
  type ToolText,
  textsOfToolkit,
  type VectorLookup,
  type VectorStoreOptions,
} from "./tool-vectors.ts";
import { type LinePace, slowDown, ToolkitLines } from "./toolkit-lines.ts";
import { blocksOf, likenessesOf, type Vector, type VectorBlocks } from "./vectors.ts";

/** Search vectors of the tools of a toolkit (one app). */
export type ToolkitVectors = {
  /** Search vectors of the toolkit's tools, in the order of the search index. Skills (tools written by a project) have no vector. */
  readonly vectors: VectorBlocks;
  /**
   * For each of several texts without meaning, its similarity to the nearest tool of the app. With these numbers, the search knows how
   * similar a text can be by chance.
   */
  readonly senseless: readonly number[];
};

/** Keeps the search vectors of toolkits (apps with their tools) in memory. It reads missing vectors in the background. */
export type VectorKeeper = {
  /**
   * Returns the search vectors of a toolkit's tools (all tools of one app); undefined until they are loaded. The first call starts loading.
   */
  of(toolkit: Toolkit): ToolkitVectors | undefined;
  /** Stops loading vectors in the background. */
  close(): Promise<void>;
};

/**
 * Age at which vectors in memory are read from the database again, in milliseconds. Reading them marks them as used, so that they are not
 * deleted.
 */
const freshMs = 86_400_000;
/**
 * Maximum number of toolkits (apps with their tools) that wait for their vectors. If there are more, a toolkit is removed; its next search
 * adds it again.
 */
const waitingMax = 2_000;
/**
 * Minimum time in milliseconds between two calls of `onFailed`, which reports that the vectors of tools could not be requested or stored.
 */
const reportIntervalMs = 5_000;

type Kept = ToolkitVectors & { readonly readAt: number };

/**
 * Dependencies of the vector keeper, which loads the search vectors of tools and caches them in memory. `onFailed`: called with a failure,
 * at most once in 5 seconds. After a failure, the keeper pauses before it continues.
 */
export type VectorKeeperOptions = VectorStoreOptions & { readonly onFailed: (error: Error) => void };

/**
 * Creates the object that requests and stores the search vectors of tools. Each request to the embeddings endpoint contains texts of one
 * toolkit (app). Projects take turns. If the endpoint refuses the texts of a project, only this project's toolkits are delayed.
 */
export function createVectorKeeper(options: VectorKeeperOptions): VectorKeeper {
  const { clock, endpoint, onFailed } = options;
  const kept = new WeakMap<Toolkit, Kept>();
  const lines = new ToolkitLines(waitingMax);
  const closing = new AbortController();
  /**
   * Number of failed requests for the vectors of meaningless texts, and the time of the next request. The search uses these texts to
   * recognize queries that fit no tool.
   */
  const ownPace: LinePace = { failures: 0, notBeforeMs: 0 };
  let senseless: readonly Vector[] | undefined;
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  let working: Promise<void> | undefined;
  let nap = new AbortController();

  const readSenseless = async (): Promise<VectorLookup["next"]> => {
    const wanted = senselessTextGroup(endpoint);
    const { found, next } = await lookUpVectors(options, wanted);
    if (next === "done") senseless = wanted.texts.flatMap(({ digest }) => found.get(digest) ?? []);
    return next;
  };
  const readToolkit = async (toolkit: Toolkit, apart: readonly Vector[]): Promise<VectorLookup["next"]> => {
    const { texts, owner } = textsOfToolkit(toolkit, endpoint);
    const { found, next } = await lookUpVectors(options, { texts, owner });
    if (next !== "done") return next;
    lines.remove(toolkit);
    kept.set(toolkit, { ...(await placed(texts, found, apart)), readAt: clock.now() });
    return next;
  };
  const take = async (pace: LinePace, turn: () => Promise<VectorLookup["next"]>) => {
    try {
      const next = await turn();
      pace.failures = 0;
      if (next === "others") pace.notBeforeMs = clock.now() + othersMs;
    } catch (error) {
      const nowMs = clock.now();
      slowDown(pace, nowMs);
      if (closing.signal.aborted || nowMs - reportedAtMs < reportIntervalMs) return;
      reportedAtMs = nowMs;
      onFailed(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const work = async () => {
    while (!closing.signal.aborted) {
      const lineAtMs = lines.nextAtMs();
      if (lineAtMs === undefined) return;
      const apart = senseless;
      const waitMs = (apart === undefined ? ownPace.notBeforeMs : lineAtMs) - clock.now();
      if (waitMs > 0) {
        nap = new AbortController();
        await clock.wait(waitMs, AbortSignal.any([nap.signal, closing.signal]));
        continue;
      }
      if (apart === undefined) {
        await take(ownPace, readSenseless);
        continue;
      }
      const next = lines.next(clock.now());
      if (next !== undefined) await take(next.pace, () => readToolkit(next.toolkit, apart));
    }
  };
  const want = (toolkit: Toolkit) => {
    if (closing.signal.aborted) return;
    // A new toolkit ends the pause at once, because its owner may not be required to wait.
    if (lines.add(toolkit)) nap.abort();
    working ??= work().finally(() => {
      working = undefined;
    });
  };
  return {
    of(toolkit) {
      const found = kept.get(toolkit);
      if (found === undefined || clock.now() - found.readAt > freshMs) want(toolkit);
      return found;
    },
    async close() {
      closing.abort();
      await working;
    },
  };
}

async function placed(
  texts: readonly ToolText[],
  found: ReadonlyMap<string, Vector>,
  apart: readonly Vector[],
): Promise<ToolkitVectors> {
  const placesMax = texts.reduce((most, { place }) => Math.max(most, place + 1), 0);
  const byPlace = Array.from({ length: placesMax }, (): Vector | undefined => undefined);
  for (const { place, digest } of texts) byPlace[place] = found.get(digest);
  const vectors = blocksOf(byPlace);
  const senseless: number[] = [];
  for (const text of apart) {
    const likenesses = likenessesOf(text, vectors).filter((likeness) => !Number.isNaN(likeness));
    senseless.push(likenesses.reduce((most, likeness) => Math.max(most, likeness), -1));
    // Other work of the node can run here, after each text. To compare all vectors of a large toolkit without a pause would block the event
    // loop for 20 ms.
    await setImmediate();
  }
  return { vectors, senseless };
}
