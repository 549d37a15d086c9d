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

/** Vectors are read anew after this time, so that the store knows that they are used. */
const freshMs = 86_400_000;
/** Toolkits that may wait. What gives way to others is wanted again when it is searched. */
const waitingMax = 2_000;
/** Between two failures that are told. */
const reportIntervalMs = 5_000;

type Kept = ToolkitVectors & { readonly readAt: number };

/** What the keeper works with. `onFailed` hears of failures, once in 5 s at most: it goes on after a pause. */
export type VectorKeeperOptions = VectorStoreOptions & { readonly onFailed: (error: Error) => void };

/**
 * Makes it. A toolkit is had by itself, in requests that hold texts of no other, and owners take turns: what an endpoint does not take of one
 * project's keeps nobody else waiting.
 */
export function createVectorKeeper(options: VectorKeeperOptions): VectorKeeper {
  const { clock, endpoint, onFailed } = options;
  const kept = new WeakMap<Toolkit, Kept>();
  const lines = new ToolkitLines(waitingMax);
  const closing = new AbortController();
  /** Of the texts without sense, which come before any toolkit. */
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
    // Whoever is new does not wait until others may have another turn.
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
    // All of them together would keep the event loop for 20 ms, of a large toolkit.
    await setImmediate();
  }
  return { vectors, senseless };
}
