import { setImmediate } from "node:timers/promises";
import type { Catalog } from "@svc/catalog";
import type { AddressGuard, Clock, ProjectId } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { Nearness } from "../search/fuse.ts";
import type { FoundTools } from "../search/judge.ts";
import { requestPartOf } from "../search/query-words.ts";
import { searchOf, type ToolQuery } from "../search/tool-search.ts";
import { prepareIndexes } from "../search/toolkit-index.ts";
import { createVectorKeeper, type ToolkitVectors, type VectorKeeper } from "./background.ts";
import { createEmbeddingsEndpoint, type EmbeddingsTarget, type EndpointOptions } from "./endpoint.ts";
import type { EmbeddingsObserver, EmbeddingsPurpose } from "./observer.ts";
import { createQueryVectors, questionsMax } from "./query-vectors.ts";
import { batchMax } from "./tool-vectors.ts";
import { likenessesOf, type Vector } from "./vectors.ts";

/** Finds the tools that a project sees by words. If the deployment has an embeddings endpoint, also finds them by meaning. */
export type ToolFinder = {
  /**
   * Returns the tools of a project's view that match the query, best first. The search compares words, and also meanings if an embeddings
   * endpoint answers within 300 ms. Never rejects.
   */
  find(projectId: ProjectId, view: Catalog, query: ToolQuery): Promise<FoundTools>;
  /** Starts to load the embedding vectors of a catalog's tools in the background. Returns true if all are loaded already. */
  prepare(view: Catalog): boolean;
  close(): Promise<void>;
};

/** The finder that compares only words. It is used if the deployment has no embeddings endpoint. */
export const wordFinder: ToolFinder = {
  async find(_projectId, view, query) {
    await prepareIndexes(view);
    return searchOf(view).search(query);
  },
  prepare: () => true,
  close: async () => {},
};

/** Dependencies of the tool search by meaning, which compares embedding vectors. */
export type MeaningFinderOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly guard: AddressGuard;
  readonly place: EmbeddingsTarget;
  /** Returns the endpoint's current bearer token. Empty or undefined if the endpoint needs no token. */
  readonly key: () => Promise<string | undefined>;
  readonly observer: EmbeddingsObserver;
};

/**
 * Timeouts of requests to the embeddings endpoint, in milliseconds. `queryMs`: for the text of a query; the search itself may stop waiting
 * earlier. `toolsMs`: for texts of tools.
 */
const timeouts = { queryMs: 3_000, toolsMs: 30_000 };

/**
 * Creates a finder that compares words and meaning. It sends texts to the deployment's embeddings endpoint, which turns them into vectors.
 */
export function createMeaningFinder(options: MeaningFinderOptions): ToolFinder {
  const { place, guard, key, clock, observer } = options;
  const endpointFor = (
    what: EmbeddingsPurpose,
    bounds: Pick<EndpointOptions, "timeoutMs" | "textsMax" | "connections">,
  ) =>
    createEmbeddingsEndpoint({
      ...{ ...place, guard, key, clock, ...bounds },
      onCalled: (call) => observer.called({ what, ...call }),
    });
  // Queries and texts of tools have separate connections, so that neither of them delays the other.
  // `questionsMax.all` is the maximum number of queries that may be sent to the embeddings endpoint at the same time. There are as many
  // connections, so the query of one project never waits for the query of another.
  const queries = endpointFor("search", { timeoutMs: timeouts.queryMs, textsMax: 1, connections: questionsMax.all });
  const texts = endpointFor("tools", { timeoutMs: timeouts.toolsMs, textsMax: batchMax, connections: 1 });
  const onFailed = (error: Error) => observer.failed("tools", error);
  const keeper = createVectorKeeper({ ...options, endpoint: texts, onFailed });
  const asker = createQueryVectors({ endpoint: queries, clock, observer });
  return {
    async find(projectId, view, query) {
      await prepareIndexes(view);
      const request = requestPartOf(query.query).trim();
      const asked = request === "" || query.kind === "trigger" ? undefined : request;
      const known = vectorsOf(view, keeper);
      // If no toolkit has vectors yet, the query cannot be compared, so the endpoint is not asked.
      const vector = asked === undefined || known.size === 0 ? undefined : await asker.of(projectId, asked);
      if (asked !== undefined && known.size === 0) observer.searched("unready");
      const nearness = vector && (await nearnessOf(known, vector));
      return searchOf(view).search({ ...query, nearness });
    },
    prepare: (view) => vectorsOf(view, keeper).size === view.toolkits.size,
    async close() {
      await Promise.all([queries.close(), texts.close(), keeper.close()]);
    },
  };
}

/** Known search vectors of tools, by the slug of their toolkit (app). */
type KnownVectors = ReadonlyMap<string, ToolkitVectors>;

function vectorsOf({ toolkits }: Catalog, keeper: VectorKeeper): KnownVectors {
  const known = new Map<string, ToolkitVectors>();
  for (const [slug, toolkit] of toolkits) {
    const found = keeper.of(toolkit);
    if (found !== undefined) known.set(slug, found);
  }
  return known;
}

/** Returns the similarity of every tool to a query, and the similarity of meaningless texts to the same tools for comparison. */
async function nearnessOf(known: KnownVectors, query: Vector): Promise<Nearness> {
  const likenesses = new Map<string, readonly number[]>();
  for (const [slug, { vectors }] of known) {
    // Other work runs after every 16 toolkits. Comparing one toolkit takes at most 0.2 ms. To compare a view of 10,000 tools at once would
    // block the event loop for 10 ms.
    if (likenesses.size % toolkitsAtOnce === toolkitsAtOnce - 1) await setImmediate();
    likenesses.set(slug, likenessesOf(query, vectors));
  }
  const nearest: number[] = [];
  for (const { senseless } of known.values()) {
    for (const [at, likeness] of senseless.entries()) nearest[at] = Math.max(nearest[at] ?? -1, likeness);
  }
  const usual = nearest.reduce((sum, likeness) => sum + likeness, 0) / nearest.length;
  const spread = Math.sqrt(nearest.reduce((sum, likeness) => sum + (likeness - usual) ** 2, 0) / nearest.length);
  return {
    of({ index, place }) {
      const likeness = likenesses.get(index.toolkitSlug)?.[place];
      return Number.isNaN(likeness) ? undefined : likeness;
    },
    usual,
    floor: Math.max(...nearest) + Math.max(spread, spreadMin),
  };
}

/** Number of toolkits (apps) that are compared before the event loop runs other work. A toolkit has at most 1,500 tools. */
const toolkitsAtOnce = 16;
/**
 * svc compares tools with the query, and also with meaningless texts. To count as similar to the query, a tool must exceed the highest
 * similarity of those texts by this value or more.
 */
const spreadMin = 0.05;
