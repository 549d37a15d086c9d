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

/** Finds the tools of a view, by their words and, where the deployment names an endpoint, by their meaning. */
export type ToolFinder = {
  /**
   * The tools of a project's view that fit, best first. It waits at most 300 ms for the endpoint, whose answer is charged to the project, and does
   * without it then. Never rejects.
   */
  find(projectId: ProjectId, view: Catalog, query: ToolQuery): Promise<FoundTools>;
  /** Has the vectors of a view, in the background, before anybody searches it. Whether those of every toolkit are there. */
  prepare(view: Catalog): boolean;
  close(): Promise<void>;
};

/** Finds tools by words alone. */
export const wordFinder: ToolFinder = {
  find: async (_projectId, view, query) => searchOf(view).search(query),
  prepare: () => true,
  close: async () => {},
};

/** What a finder by meaning works with. */
export type MeaningFinderOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly guard: AddressGuard;
  readonly place: EmbeddingsTarget;
  /** The endpoint's bearer token at that time; empty or undefined for none. */
  readonly key: () => Promise<string | undefined>;
  readonly observer: EmbeddingsObserver;
};

/** How long the endpoint has for the text of a query once a search no longer waits for it, and for texts of tools, milliseconds. */
const timeouts = { queryMs: 3_000, toolsMs: 30_000 };

/** Finds tools by words and meaning. Queries and texts of tools are asked for apart: neither waits for the other. */
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
  // A connection for each question: none waits behind another project's.
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
      // Nothing is asked that nothing could be compared with.
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
  const likenesses = new Map<string, readonly number[]>();
  for (const [slug, { vectors }] of known) {
    // A toolkit takes a fifth of a millisecond at most; a view of 10,000 tools would keep the event loop for 10.
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

/** Toolkits whose tools are compared before whatever else the event loop has to do is done: 200 tools in one are the most. */
const toolkitsAtOnce = 16;
/** What a floor stands above all that has no sense, at the least. */
const spreadMin = 0.05;
