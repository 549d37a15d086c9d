import type { Catalog } from "@svc/catalog";
import { faultsMax, swapsOf } from "./spelling.ts";
import { indexOf, type Postings, type SearchedTool, type ToolkitIndex } from "./toolkit-index.ts";
import type { VerbClasses } from "./verb-classes.ts";

/** A tool of a view, with what the index of its toolkit knows of it. */
export type IndexedTool = {
  readonly tool: SearchedTool;
  readonly verbClasses: VerbClasses;
  readonly index: ToolkitIndex;
  /** Its place in that index. */
  readonly place: number;
};

/** A term that tools of a view hold. */
export type Term = {
  /** How much it tells, by how few tools hold it: what BM25 calls the inverse document frequency, evened out. */
  readonly worth: number;
  /** Its postings in each toolkit that holds it, whose places count from `start` in the tools of the view. */
  readonly postings: readonly { readonly start: number; readonly postings: Postings }[];
};

/** The callable tools of all toolkits of a view as one. */
export type ViewIndex = {
  readonly tools: readonly IndexedTool[];
  /** Of each tool, the place of its toolkit among those of the view. */
  readonly toolkitOf: Uint32Array;
  readonly toolkits: readonly ToolkitIndex[];
  /** The share of its tools that have sayings. */
  readonly saidShare: number;
  /** What a term is worth that one tool alone holds. */
  readonly rarestWorth: number;
  /** Undefined for a term that no tool holds. */
  find(term: string): Term | undefined;
  /** The terms that a word begins, or that are spelled almost like it. */
  spelledLike(word: string): ReadonlySet<string>;
};

/** How much rare words tell more than common ones: 1 as BM25 has it, 0 not at all. Intents are full of rare words that say little. */
const rarityExponent = 0.65;

/** Joins the indexes of the toolkits of a view. It holds no text of its own, but what it was asked for. */
export function indexView(view: Catalog): ViewIndex {
  const indexes = [...view.toolkits.values()].map(indexOf);
  const tools = indexes.flatMap((index) => index.tools.map((tool, place) => toIndexedTool(index, tool, place)));
  /** Holds terms alone, so no query makes it larger than the definitions are. */
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

/** What a term is worth that so many tools hold. */
function worthOf(held: number, toolCount: number): number {
  return Math.log(1 + (toolCount - held + 0.5) / (held + 0.5)) ** rarityExponent;
}

/** Words of four letters or more begin terms; such terms differ from them in one letter, or in two when they have eight, or two are swapped. */
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

/** True if the words of a query hold the slug of one of the toolkits. */
export function namesToolkit(words: readonly string[], { toolkits }: ViewIndex): boolean {
  const text = ` ${words.join(" ")} `;
  return toolkits.some(({ toolkitSlug }) => text.includes(` ${toolkitSlug.replaceAll("_", " ")} `));
}
