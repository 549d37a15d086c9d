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

/** What is looked for. Empty or left out filters let every tool pass; `limit` is the most tools to return, default 8. */
export type ToolQuery = {
  readonly query: string;
  readonly toolkitSlug?: string | undefined;
  readonly kind?: "action" | "trigger" | "code" | undefined;
  readonly accessClass?: AccessClass | "" | undefined;
  readonly limit?: number | undefined;
  /** How the caller reaches a tool. Default: every one can be called. */
  readonly availabilityOf?: ((tool: SearchedTool) => Availability) | undefined;
  /** Whoever is bound finds what it may use alone. */
  readonly binding?: Binding | undefined;
  /** How near tools are in meaning. Default: words alone count. */
  readonly nearness?: Nearness | undefined;
};

/** Whether a tool can be called now: its app is `connected`, nobody connected it yet, or the deployment does not say where it is. */
export type Availability = "connected" | "unconnected" | "unbound";

/** Ranks the callable tools of one view by intent. */
export type ToolSearch = {
  /** Reads memory alone. */
  search(query: ToolQuery): FoundTools;
};

/** What is left of a score: one that can be called comes before one that fits a little better and cannot. */
const availabilityShares: Readonly<Record<Availability, number>> = { connected: 1, unconnected: 0.8, unbound: 0.6 };
/** Tools beyond `limit` that are looked at closely. */
const candidatesMore = 40;
/** The default of `limit`. */
const limitDefault = 8;

const searches = new WeakMap<Catalog, ToolSearch>();

/** The search of a view, made once for it. */
export function searchOf(view: Catalog): ToolSearch {
  const known = searches.get(view);
  if (known !== undefined) return known;
  const made = createToolSearch(view);
  searches.set(view, made);
  return made;
}

/** A search over what can be called of a view, actions and code. Nothing is indexed before the first search. */
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
      const availabilityShareOf = (tool: SearchedTool) =>
        availabilityOf === undefined ? 1 : availabilityShares[availabilityOf(tool)];
      const kindShare = kindShareOf(query, index.toolkits);
      const shareOf = (found: IndexedTool) =>
        passes(found) ? availabilityShareOf(found.tool) * kindShare(found.index) : 0;
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
      const grounds = { share, view: index, shareOf: ({ tool }: IndexedTool) => availabilityShareOf(tool) };
      return judge(listed.slice(0, limit), { ...grounds, ...meanings, nearness, isToolkitNamed });
    },
  };
}
