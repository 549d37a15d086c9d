import MiniSearch, { type Options } from "minisearch";
import { queryTermsOf, termOf, wordsOf } from "./terms.ts";

/** A section of a page, as it is searched for: from one heading to the next. */
export type Section = {
  readonly id: number;
  /** Its address below the root of the site, with the anchor of its heading. */
  readonly path: string;
  /** The title of the page. */
  readonly title: string;
  /** Its heading, after those above it; empty for the start of the page. */
  readonly heading: string;
  /** All else of it as plain text. */
  readonly text: string;
};

/** A section that was found, and the words it was found by. */
export type Found = Pick<Section, "path" | "title" | "heading" | "text"> & { readonly words: readonly string[] };

const options: Options<Section> = {
  fields: ["title", "heading", "text"],
  storeFields: ["path", "title", "heading", "text"],
  tokenize: wordsOf,
  processTerm: (word) => termOf(word) ?? null,
};

/** How much a section counts for by its kind of page: readers ask for tasks more often than for fields. */
const weights: readonly (readonly [start: string, weight: number])[] = [
  ["guides/", 1.3],
  ["start/", 1.1],
  ["reference/api/", 0.6],
  ["reference/cli/", 0.8],
  ["changelog", 0.3],
];

/** Makes the index of all sections, as the text that `openSearch` reads. */
export function writeIndex(sections: readonly Section[]): string {
  const index = new MiniSearch(options);
  index.addAll(sections);
  return JSON.stringify(index);
}

/** Finds sections for a question, the best first. */
export type Search = (question: string) => readonly Found[];

/** Opens a search over an index that `writeIndex` wrote. */
export function openSearch(indexText: string): Search {
  const index = MiniSearch.loadJSON(indexText, options);
  return (question) =>
    index
      .search(question, {
        processTerm: (word) => queryTermsOf(word),
        boost: { title: 2.5, heading: 3 },
        prefix: (term) => term.length > 2,
        fuzzy: (term) => (term.length > 4 ? 0.2 : false),
        weights: { prefix: 0.4, fuzzy: 0.25 },
        boostDocument: (_id, _term, stored) => weightOf(String(stored?.["path"] ?? "")),
      })
      .map(({ path, title, heading, text, terms }) => ({ path, title, heading, text, words: terms }));
}

function weightOf(path: string): number {
  return weights.find(([start]) => path.startsWith(start))?.[1] ?? 1;
}
