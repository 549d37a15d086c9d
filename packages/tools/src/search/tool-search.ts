import type { AccessClass, Catalog } from "@svc/catalog";
import { type Binding, isToolGranted } from "@svc/core";
import { fuse, type Nearness } from "./fuse.ts";
import { confidenceOf, type FoundTools, judge, noneFound, plausibleTools } from "./judge.ts";
import { kindShareOf } from "./kinds.ts";
import { meaningsOf } from "./meanings.ts";
import { phrasePreference, preferNames, preferReplacements } from "./prefer.ts";
import { readQuery } from "./query-words.ts";
import { scoreTools, spreadOverToolkits } from "./score-tools.ts";
import type { SearchedTool } from "./toolkit-index.ts";
import { demandOf } from "./verb-classes.ts";
import { type IndexedTool, indexView, namesToolkit, type ViewIndex } from "./view-index.ts";

/** A search for tools. Empty or missing filters let every tool pass. `limit`: maximum number of tools to return, default 8. */
export type ToolQuery = {
  readonly query: string;
  readonly toolkitSlug?: string | undefined;
  readonly kind?: "action" | "trigger" | "code" | undefined;
  readonly accessClass?: AccessClass | "" | undefined;
  readonly limit?: number | undefined;
  /** Returns the availability of a tool for the caller. Default: every tool can be called. */
  readonly availabilityOf?: ((tool: SearchedTool) => Availability) | undefined;
  /** Scope of the caller. A scoped caller finds only the tools that it may use. */
  readonly binding?: Binding | undefined;
  /** Similarity in meaning between the tools and the query. Default: only words count. */
  readonly nearness?: Nearness | undefined;
};

/**
 * Availability of a tool. `connected`: the tool can be called. `unconnected`: its app has no account yet. `unbound`: the deployment does
 * not configure the app's address.
 */
export type Availability = "connected" | "unconnected" | "unbound";

/** Search over the tools that a caller can call. It orders the tools by how well they fit a request in words. */
export type ToolSearch = {
  /** Returns the matching tools. Reads only memory. */
  search(query: ToolQuery): FoundTools;
};

/**
 * Factor for a tool's search score. Tools that cannot be called get a lower score: `unconnected` ones have no account, and `unbound` ones
 * no configured address.
 */
const availabilityShares: Readonly<Record<Availability, number>> = { connected: 1, unconnected: 0.8, unbound: 0.6 };
/**
 * Factor for the score of a tool of the project's own toolkits. A project adds its own app to use it, so of two tools that fit about equally
 * well, its own comes first.
 */
const privateShare = 1.2;
/**
 * Number of tools that are ranked completely, in addition to the `limit` requested tools. They are selected by a rough first score. Other
 * tools cannot be in the result.
 */
const candidatesMore = 40;
/** Default of the maximum number of tools in an answer. */
const limitDefault = 8;

const searches = new WeakMap<Catalog, ToolSearch>();

/** Returns the search over a view (the tools that a caller sees). It is created once for each view. */
export function searchOf(view: Catalog): ToolSearch {
  const known = searches.get(view);
  if (known !== undefined) return known;
  const made = createToolSearch(view);
  searches.set(view, made);
  return made;
}

/** Creates the search for the tools that the caller may see. `view`: these tools. The index is made at the first search. */
export function createToolSearch(view: Catalog): ToolSearch {
  let index: ViewIndex | undefined;
  return {
    search({
      query,
      toolkitSlug = "",
      kind,
      accessClass = "",
      limit = limitDefault,
      availabilityOf,
      binding,
      nearness,
    }) {
      if (kind === "trigger") return noneFound;
      index ??= indexView(view);
      const { find } = index;
      const { words, telling, isTranslated } = readQuery(query, (term) => find(term) !== undefined);
      const meanings = meaningsOf(telling, index);
      const passes = ({ tool }: IndexedTool) =>
        isToolGranted(binding, tool) &&
        (kind === undefined || tool.kind === kind) &&
        (toolkitSlug === "" || tool.toolkitSlug === toolkitSlug) &&
        (accessClass === "" || tool.class === accessClass);
      const stateShareOf = ({ tool, index: { isPrivate } }: IndexedTool) =>
        (isPrivate ? privateShare : 1) * (availabilityOf === undefined ? 1 : availabilityShares[availabilityOf(tool)]);
      const kindShare = kindShareOf(query, index.toolkits);
      const shareOf = (found: IndexedTool) => (passes(found) ? stateShareOf(found) * kindShare(found.index) : 0);
      const wanted = { demand: demandOf(words), count: limit + candidatesMore, shareOf };
      const { found, share } = scoreTools(index, meanings, wanted);
      const isToolkitNamed = toolkitSlug !== "" || namesToolkit(words, index);
      const isFound = isToolkitNamed || confidenceOf(share, index.saidShare) !== undefined;
      const byWords = isFound ? found.map(phrasePreference(meanings.known)) : [];
      const ranked = nearness === undefined ? byWords : fuse(index, byWords, { ...wanted, nearness });
      const asked = telling.flatMap(({ term, isData }) => (isData || isTranslated ? [] : [term]));
      const named = preferReplacements(preferNames(ranked, asked), (tool) => shareOf(tool) > 0);
      const spread = spreadOverToolkits(named, limit);
      const listed = spread.length > 0 || toolkitSlug === "" ? spread : plausibleTools(index, wanted);
      const grounds = { share, view: index, shareOf: stateShareOf };
      return judge(listed.slice(0, limit), { ...grounds, ...meanings, nearness, isToolkitNamed });
    },
  };
}
