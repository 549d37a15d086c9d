import type { Catalog } from "@svc/catalog";
import { faultsMax, swapsOf } from "./spelling.ts";
import { indexOf, type Postings, type SearchedTool, type ToolkitIndex } from "./toolkit-index.ts";
import type { VerbClasses } from "./verb-classes.ts";

/** A tool that the caller may see, with its data in the search index of its toolkit (app). */
export type IndexedTool = {
  readonly tool: SearchedTool;
  readonly verbClasses: VerbClasses;
  readonly index: ToolkitIndex;
  /** Position of the tool in the search index of its toolkit (app). */
  readonly place: number;
};

/** A word (in its indexed form) that occurs in at least one tool of the caller's catalog. */
export type Term = {
  /** Weight of the term by its rarity: a smoothed inverse document frequency, as in BM25. */
  readonly worth: number;
  /**
   * Tools that contain a search term, one item for each toolkit (app). An item's `postings` has the positions of the tools in their
   * toolkit. `start` is the position of the toolkit's first tool among all tools that the caller may see.
   */
  readonly postings: readonly { readonly start: number; readonly postings: Postings }[];
};

/** Callable tools of all toolkits (apps) that one caller may see (a view), in one index. */
export type ViewIndex = {
  readonly tools: readonly IndexedTool[];
  /** For each tool, the position of its toolkit (app) in `toolkits`. */
  readonly toolkitOf: Uint32Array;
  readonly toolkits: readonly ToolkitIndex[];
  /** Share of the tools in this view (the tools that one caller may see) that have example phrases, from 0 to 1. */
  readonly saidShare: number;
  /** Weight of a term that only one tool contains. */
  readonly rarestWorth: number;
  /** Returns a term of the index, or undefined if no tool contains it. */
  find(term: string): Term | undefined;
  /** Returns the terms that start with a word or have almost the same spelling. */
  spelledLike(word: string): ReadonlySet<string>;
};

/**
 * Says how much more rare words weigh than common words in a search. 0: equally much. 1: as in BM25 (a ranking formula). The value is below
 * 1, because queries contain many rare words that mean little.
 */
const rarityExponent = 0.65;

/**
 * Returns one search index of all tools that a caller may see (a view), made from the indexes of their toolkits (apps). The result stores
 * no texts of its own, except terms that were looked up.
 */
export function indexView(view: Catalog): ViewIndex {
  const indexes = [...view.toolkits.values()].map(indexOf);
  const tools = indexes.flatMap((index) => index.tools.map((tool, place) => toIndexedTool(index, tool, place)));
  /**
   * Cache of words that queries have looked up and that some tool contains. Words that no tool contains are not stored. So the cache never
   * has more entries than there are different words in the tool definitions.
   */
  const known = new Map<string, Term>();
  return {
    tools,
    toolkitOf: Uint32Array.from(indexes.flatMap((index, at) => index.tools.map(() => at))),
    toolkits: indexes,
    saidShare: indexes.reduce((sum, { saidCount }) => sum + saidCount, 0) / Math.max(1, tools.length),
    rarestWorth: worthOf(1, tools.length),
    find(term) {
      const found = known.get(term) ?? joinPostings(term, indexes, tools.length);
      if (found !== undefined) known.set(term, found);
      return found;
    },
    spelledLike: (word) => spelledLike(word, indexes),
  };
}

function toIndexedTool(index: ToolkitIndex, tool: SearchedTool, place: number): IndexedTool {
  return { tool, verbClasses: index.verbClasses[place] ?? 0, index, place };
}

function joinPostings(term: string, indexes: readonly ToolkitIndex[], toolCount: number): Term | undefined {
  const postings: Term["postings"][number][] = [];
  let start = 0;
  let held = 0;
  for (const { terms, tools } of indexes) {
    const found = terms.get(term);
    if (found !== undefined) {
      postings.push({ start, postings: found });
      held += found.places.length;
    }
    start += tools.length;
  }
  if (held === 0) return undefined;
  return { worth: worthOf(held, toolCount), postings };
}

/**
 * Returns the weight of a search term. A term weighs more if fewer tools contain it. `held`: number of tools that contain the term;
 * `toolCount`: number of all tools.
 */
function worthOf(held: number, toolCount: number): number {
  return Math.log(1 + (toolCount - held + 0.5) / (held + 0.5)) ** rarityExponent;
}

/**
 * Returns terms that are similar to a word. A word of four letters or more also finds terms that start with the word. Other terms differ from
 * the word in one letter, in two letters (from eight letters on), or by two swapped letters.
 */
function spelledLike(word: string, indexes: readonly ToolkitIndex[]): ReadonlySet<string> {
  const found = new Set<string>();
  if (word.length < 4 || word.length > 30) return found;
  for (const index of indexes) {
    const spellings = index.spellings();
    for (const term of spellings.atPrefix(word).keys()) if (term.length <= word.length + 4) found.add(term);
    for (const term of spellings.fuzzyGet(word, faultsMax(word)).keys()) if (term[0] === word[0]) found.add(term);
    for (const term of swapsOf(word)) if (spellings.has(term)) found.add(term);
  }
  return found;
}

/** True if the words of a query contain the slug of one of the toolkits (apps) that the caller may see. False if no toolkit is named. */
export function namesToolkit(words: readonly string[], { toolkits }: ViewIndex): boolean {
  const text = ` ${words.join(" ")} `;
  return toolkits.some(({ toolkitSlug }) => text.includes(` ${toolkitSlug.replaceAll("_", " ")} `));
}
