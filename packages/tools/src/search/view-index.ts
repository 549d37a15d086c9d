import type { Catalog } from "@svc/catalog";
import { type Phrase, readTitles } from "./phrases.ts";
import { faultsMax, swapsOf } from "./spelling.ts";
import { endOf, indexOf, type Postings, type SearchedTool, type ToolkitIndex } from "./toolkit-index.ts";
import type { VerbClasses } from "./verb-classes.ts";

/** A tool that the caller may see, with its data in the search index of its toolkit (app). */
export type IndexedTool = {
  readonly tool: SearchedTool;
  readonly verbClasses: VerbClasses;
  readonly index: ToolkitIndex;
  /** Position of the tool in the search index of its toolkit (app). */
  readonly place: number;
  /** Titles of the project's saved programs that call the tool, prepared for search. Absent if there are none. */
  readonly titles?: readonly Phrase[] | undefined;
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
 * Strength of a term in a tool that has the term only from the titles of the project's programs. It is about as high as that of a word in
 * the tool's own description, because a title also describes the other tools of the program.
 */
const titleStrength = 0.8;

/**
 * Returns one search index of all tools that a caller may see (a view), made from the indexes of their toolkits (apps). The result stores
 * no texts of its own, except terms that were looked up.
 */
export function indexView(view: Catalog): ViewIndex {
  const indexes = [...view.toolkits.values()].map(indexOf);
  const phrases = view.titles && endOf(readTitles(view.titles));
  const tools = indexes.flatMap((index) =>
    index.tools.map((tool, place) =>
      toIndexedTool(index, {
        tool,
        place,
        titles: view.titles?.get(tool.slug)?.flatMap((text) => phrases?.get(text) ?? []),
      }),
    ),
  );
  const titles = titlePostings(tools);
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
      const found = known.get(term) ?? joinPostings(term, { indexes, titles, toolCount: tools.length });
      if (found !== undefined) known.set(term, found);
      return found;
    },
    spelledLike: (word) => spelledLike(word, indexes),
  };
}

function toIndexedTool(
  index: ToolkitIndex,
  {
    tool,
    place,
    titles,
  }: { readonly tool: SearchedTool; readonly place: number; readonly titles: readonly Phrase[] | undefined },
): IndexedTool {
  const indexed = { tool, verbClasses: index.verbClasses[place] ?? 0, index, place };
  return titles === undefined ? indexed : { ...indexed, titles };
}

/**
 * Returns the postings of the terms that tools have only from the titles of the project's programs. Positions are those of the whole view.
 * These terms are not in the index of a toolkit, because projects share that index.
 */
function titlePostings(tools: readonly IndexedTool[]): ReadonlyMap<string, Postings> {
  const places = new Map<string, number[]>();
  for (const [at, { titles = [], index, place }] of tools.entries()) {
    for (const term of new Set(titles.flatMap((title) => [...title.places.keys()]))) {
      if (index.terms.get(term)?.places.includes(place)) continue;
      const known = places.get(term) ?? [];
      known.push(at);
      places.set(term, known);
    }
  }
  return new Map(
    [...places].map(([term, found]) => [
      term,
      { places: Uint32Array.from(found), strengths: new Float64Array(found.length).fill(titleStrength) },
    ]),
  );
}

type TermSources = {
  readonly indexes: readonly ToolkitIndex[];
  readonly titles: ReadonlyMap<string, Postings>;
  readonly toolCount: number;
};

function joinPostings(term: string, { indexes, titles, toolCount }: TermSources): Term | undefined {
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
  const ofTitles = titles.get(term);
  if (ofTitles !== undefined) {
    postings.push({ start: 0, postings: ofTitles });
    held += ofTitles.places.length;
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
 * Returns terms that are similar to a word. A word of four letters or more also finds terms that start with the word. Other terms differ
 * from the word in one letter, in two letters (from eight letters on), or by two swapped letters.
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
