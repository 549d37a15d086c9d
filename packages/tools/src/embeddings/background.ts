import { setImmediate } from "node:timers/promises";
import type { Toolkit } from "@svc/catalog";
import type { ToolText } from "./tool-texts.ts";
import { type Look, lookFor, othersMs, type VectorStoreOptions, wantedOf, wantedSenseless } from "./tool-vectors.ts";
import type { Vector } from "./vector.ts";
import { blocksOf, likenessesOf, type VectorBlocks } from "./vector-block.ts";

/** Where the tools of a toolkit lie. */
export type ToolkitVectors = {
  /** By the place of a tool in the toolkit's index; a skill has none. */
  readonly vectors: VectorBlocks;
  /** How near each of the texts without sense comes to one of the tools. */
  readonly senseless: readonly number[];
};

/** Vectors of toolkits in memory, had in the background. */
export type VectorKeeper = {
  /** Undefined until they are there: then they are on their way. */
  of(toolkit: Toolkit): ToolkitVectors | undefined;
  /** Ends the background work. */
  close(): Promise<void>;
};

/** Of failures in a row: the first pause, which doubles up to the most, milliseconds. */
const pause = { firstMs: 5_000, maxMs: 300_000 };
/** Vectors are read anew after this time, so that the store knows that they are used. */
const freshMs = 86_400_000;
/** Toolkits that may wait. One more takes the place of the one that waits longest, which is wanted again when it is searched. */
const waitingMax = 2_000;

type Kept = ToolkitVectors & { readonly readAt: number };

/** What the keeper works with. `onFailed` hears of each failure: it goes on after a pause. */
export type VectorKeeperOptions = VectorStoreOptions & { readonly onFailed: (error: Error) => void };

/**
 * Makes it. A toolkit is had by itself, in requests that hold texts of no other: what an endpoint does not take of one project's leaves those of
 * others alone, and it comes last from then on.
 */
export function createVectorKeeper(options: VectorKeeperOptions): VectorKeeper {
  const { clock, endpoint, onFailed } = options;
  const kept = new WeakMap<Toolkit, Kept>();
  const waiting = new Set<Toolkit>();
  const closing = new AbortController();
  let senseless: readonly Vector[] | undefined;
  let failures = 0;
  let working: Promise<void> | undefined;

  const readSenseless = async (): Promise<Look["next"]> => {
    const wanted = wantedSenseless(endpoint);
    const { found, next } = await lookFor(options, wanted);
    if (next === "done") senseless = wanted.texts.flatMap(({ digest }) => found.get(digest) ?? []);
    return next;
  };
  const readToolkit = async (toolkit: Toolkit, apart: readonly Vector[]): Promise<Look["next"]> => {
    // Last until it is done, also when this fails.
    waiting.delete(toolkit);
    waiting.add(toolkit);
    const { texts, owner } = wantedOf(toolkit, endpoint);
    const { found, next } = await lookFor(options, { texts, owner });
    if (next !== "done") return next;
    waiting.delete(toolkit);
    kept.set(toolkit, { ...(await placed(texts, found, apart)), readAt: clock.now() });
    return next;
  };
  const work = async () => {
    for (;;) {
      const [toolkit] = waiting;
      if (toolkit === undefined || closing.signal.aborted) return;
      try {
        const next = senseless === undefined ? await readSenseless() : await readToolkit(toolkit, senseless);
        failures = 0;
        if (next === "others") await clock.wait(othersMs, closing.signal);
      } catch (error) {
        if (closing.signal.aborted) return;
        onFailed(error instanceof Error ? error : new Error(String(error)));
        await clock.wait(Math.min(pause.maxMs, pause.firstMs * 2 ** failures++), closing.signal);
      }
    }
  };
  const want = (toolkit: Toolkit) => {
    // One that waits keeps its place: whoever is searched most would come last.
    if (waiting.has(toolkit) || closing.signal.aborted) return;
    const [oldest] = waiting;
    if (oldest !== undefined && waiting.size >= waitingMax) waiting.delete(oldest);
    waiting.add(toolkit);
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
    // All of them together would keep the event loop for 20 ms, of a large toolkit.
    await setImmediate();
  }
  return { vectors, senseless };
}
