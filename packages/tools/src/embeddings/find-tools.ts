import { setImmediate } from "node:timers/promises";
import type { Catalog } from "@svc/catalog";
import type { AddressGuard, Clock, ProjectId } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { Nearness } from "../search/fuse.ts";
import type { FoundTools } from "../search/judge.ts";
import { requestPartOf } from "../search/query-words.ts";
import { searchOf, type ToolQuery } from "../search/tool-search.ts";
import { createVectorKeeper, type ToolkitVectors, type VectorKeeper } from "./background.ts";
import { createEmbeddingsEndpoint, type EmbeddingsTarget, type EndpointOptions } from "./endpoint.ts";
import type { EmbeddingsObserver, EmbeddingsPurpose } from "./observer.ts";
import { createQueryVectors, questionsMax } from "./query-vectors.ts";
import { batchMax } from "./tool-vectors.ts";
import { likenessesOf, type Vector } from "./vectors.ts";

/** Finds the tools of a view by words and, if the deployment configures an endpoint, by meaning. */
export type ToolFinder = {
  /**
   * Returns the matching tools of a project's view, best first. Waits at most 300 ms for the endpoint, charges its answer to the project,
   * and otherwise uses words only. Never rejects.
   */
  find(projectId: ProjectId, view: Catalog, query: ToolQuery): Promise<FoundTools>;
  /** Starts loading the vectors of a view in the background, before the first search. True if the vectors of every toolkit are loaded. */
  prepare(view: Catalog): boolean;
  close(): Promise<void>;
};

/** Finds tools by words only. */
export const wordFinder: ToolFinder = {
  find: async (_projectId, view, query) => searchOf(view).search(query),
  prepare: () => true,
  close: async () => {},
};

/** Dependencies of a finder by meaning. */
export type MeaningFinderOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly guard: AddressGuard;
  readonly place: EmbeddingsTarget;
  /** Returns the endpoint's current bearer token; empty or undefined for none. */
  readonly key: () => Promise<string | undefined>;
  readonly observer: EmbeddingsObserver;
};

/** Timeouts of the endpoint, milliseconds: for a query's text after the search stopped waiting, and for texts of tools. */
const timeouts = { queryMs: 3_000, toolsMs: 30_000 };

/** Creates a finder by words and meaning. Queries and texts of tools use separate requests, so neither waits for the other. */
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
  // One connection per question, so none waits for another project's.
  const queries = endpointFor("search", { timeoutMs: timeouts.queryMs, textsMax: 1, connections: questionsMax.all });
  const texts = endpointFor("tools", { timeoutMs: timeouts.toolsMs, textsMax: batchMax, connections: 1 });
  const onFailed = (error: Error) => observer.failed("tools", error);
  const keeper = createVectorKeeper({ ...options, endpoint: texts, onFailed });
  const asker = createQueryVectors({ endpoint: queries, clock, observer });
  return {
    async find(projectId, view, query) {
      const request = requestPartOf(query.query).trim();
      const asked = request === "" || query.kind === "trigger" ? undefined : request;
      const known = vectorsOf(view, keeper);
      // Without known vectors there is nothing to compare with, so the endpoint is not asked.
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

/** By the slug of the toolkit. */
type KnownVectors = ReadonlyMap<string, ToolkitVectors>;

function vectorsOf({ toolkits }: Catalog, keeper: VectorKeeper): KnownVectors {
  const known = new Map<string, ToolkitVectors>();
  for (const [slug, toolkit] of toolkits) {
    const found = keeper.of(toolkit);
    if (found !== undefined) known.set(slug, found);
  }
  return known;
}

/** Returns the similarity of every tool to a query, relative to the similarity of meaningless texts to the same tools. */
async function nearnessOf(known: KnownVectors, query: Vector): Promise<Nearness> {
  const likenesses = new Map<string, readonly number[]>();
  for (const [slug, { vectors }] of known) {
    // A toolkit takes at most a fifth of a millisecond; a view of 10,000 tools would block the event loop for 10.
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

/** Number of toolkits compared before the event loop runs other work. A toolkit has at most 200 tools. */
const toolkitsAtOnce = 16;
/** Minimum distance of the floor above the similarity of meaningless texts. */
const spreadMin = 0.05;
