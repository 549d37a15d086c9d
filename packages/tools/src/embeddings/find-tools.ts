import { setImmediate } from "node:timers/promises";
import type { Catalog } from "@svc/catalog";
import type { AddressGuard, Clock } from "@svc/core";
import type { Database } from "@svc/db";
import type { Nearness } from "../search/fuse.ts";
import { toldBy } from "../search/query-words.ts";
import { type FoundTool, searchOf, type ToolQuery } from "../search/tool-search.ts";
import { createVectorKeeper, type ToolkitVectors, type VectorKeeper } from "./background.ts";
import { createEmbeddingsEndpoint, type EmbeddingsPlace } from "./endpoint.ts";
import { createQueryVectors } from "./query-vectors.ts";
import { batchMax } from "./tool-vectors.ts";
import { likenessOf, type Vector } from "./vector.ts";

/** Finds the tools of a view, by their words and, where the deployment names an endpoint, by their meaning. */
export type ToolFinder = {
  /** The tools that fit, best first. It waits at most 300 ms for the endpoint, and does without it then. Never rejects. */
  find(view: Catalog, query: ToolQuery): Promise<FoundTool[]>;
  /** Has the vectors of a view, in the background, before anybody searches it. */
  prepare(view: Catalog): void;
  close(): Promise<void>;
};

/** Finds tools by words alone. */
export const wordFinder: ToolFinder = {
  find: async (view, query) => searchOf(view).search(query),
  prepare: () => {},
  close: async () => {},
};

/** What a finder by meaning works with. */
export type MeaningFinderOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly guard: AddressGuard;
  readonly place: EmbeddingsPlace;
  /** The endpoint's bearer token at that time; empty or undefined for none. */
  readonly key: () => string | undefined;
  /** Hears why there are words alone: at the first failure, and after each pause that follows. */
  readonly onFailed: (what: "search" | "tools", error: Error) => void;
};

/** How long the endpoint has for the text of a query once a search no longer waits for it, and for texts of tools, milliseconds. */
const timeouts = { queryMs: 3_000, toolsMs: 30_000 };

/** Finds tools by words and meaning. Queries and texts of tools are asked for apart: neither waits for the other. */
export function createMeaningFinder(options: MeaningFinderOptions): ToolFinder {
  const { place, guard, key, onFailed } = options;
  const shared = { ...place, guard, key };
  const queries = createEmbeddingsEndpoint({ ...shared, timeoutMs: timeouts.queryMs, textsMax: 1, connections: 16 });
  const texts = createEmbeddingsEndpoint({
    ...{ ...shared, timeoutMs: timeouts.toolsMs, textsMax: batchMax, connections: 1 },
  });
  const keeper = createVectorKeeper({ ...options, endpoint: texts, onFailed: (error) => onFailed("tools", error) });
  const asker = createQueryVectors({ ...options, endpoint: queries, onFailed: (error) => onFailed("search", error) });
  return {
    async find(view, query) {
      const known = vectorsOf(view, keeper);
      const told = toldBy(query.query).trim();
      // Nothing is asked that nothing could be compared with.
      const asked = known.size === 0 || told === "" || query.kind === "trigger" ? undefined : await asker.of(told);
      const nearness = asked && (await nearnessOf(known, asked));
      return searchOf(view).search({ ...query, nearness });
    },
    prepare: (view) => void vectorsOf(view, keeper),
    async close() {
      await Promise.all([queries.close(), texts.close(), keeper.close()]);
    },
  };
}

/** By the slug of their toolkits. */
type KnownVectors = ReadonlyMap<string, ToolkitVectors>;

function vectorsOf({ toolkits }: Catalog, keeper: VectorKeeper): KnownVectors {
  const known = new Map<string, ToolkitVectors>();
  for (const [slug, toolkit] of toolkits) {
    const found = keeper.of(toolkit);
    if (found !== undefined) known.set(slug, found);
  }
  return known;
}

/** How near everything is to a query, measured against how near texts without sense come to the same tools. */
async function nearnessOf(known: KnownVectors, query: Vector): Promise<Nearness> {
  const likenesses = new Map<string, readonly (number | undefined)[]>();
  for (const [slug, { vectors }] of known) {
    // A toolkit takes a millisecond at most; a view of 10,000 tools would keep the event loop for 20.
    if (likenesses.size % toolkitsAtOnce === toolkitsAtOnce - 1) await setImmediate();
    likenesses.set(
      slug,
      vectors.map((vector) => vector && likenessOf(query, vector)),
    );
  }
  const nearest: number[] = [];
  for (const { senseless } of known.values()) {
    for (const [at, likeness] of senseless.entries()) nearest[at] = Math.max(nearest[at] ?? -1, likeness);
  }
  const usual = nearest.reduce((sum, likeness) => sum + likeness, 0) / nearest.length;
  const spread = Math.sqrt(nearest.reduce((sum, likeness) => sum + (likeness - usual) ** 2, 0) / nearest.length);
  return {
    of: ({ index, place }) => likenesses.get(index.toolkitSlug)?.[place],
    usual,
    floor: Math.max(...nearest) + Math.max(spread, spreadMin),
  };
}

/** Toolkits whose tools are compared before whatever else the event loop has to do is done: 200 tools in one are the most. */
const toolkitsAtOnce = 4;
/** What a floor stands above all that has no sense, at the least. */
const spreadMin = 0.05;
