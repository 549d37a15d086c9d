import MiniSearch, { type Options, type SearchResult } from "minisearch";
import { matchExamples, type Similarity } from "./example-questions.ts";
import { sameTermsOf, termOf, wholeWordsOf, wordsOf } from "./terms.ts";

/** A searchable section of a page: from one heading to the next. */
export type Section = {
  readonly id: number;
  /** Address of the section relative to the root of the site, with the anchor of its heading. */
  readonly path: string;
  /** The title of the page. */
  readonly title: string;
  /** Heading of the section, after the headings above it. For the start of a page, the page's title. */
  readonly heading: string;
  /** The text of the section without its heading, as plain text. */
  readonly text: string;
  /** The part of the section's text that search results show. */
  readonly shown: string;
  /** Questions that the section answers, in the words of readers. The search compares the reader's question with them. */
  readonly questions: readonly string[];
};

/** A section of the documentation that a search found. `words`: the words by which the search found it. */
export type SearchHit = Pick<Section, "path" | "title" | "heading" | "shown"> & { readonly words: readonly string[] };

const options: Options<Section> = {
  fields: ["title", "heading", "text"],
  storeFields: ["path", "title", "heading", "shown", "questions"],
  tokenize: (text, field) => wordsOf(field === "heading" ? tellingHeadingOf(text) : text),
  // The number of a step, as in "3. Run it", says nothing about what the section is about.
  extractField: (section, field) => {
    if (field === "heading") return section.heading.replace(/^\d+\. /, "");
    return field === "text" ? [section.text, ...section.questions].join(" ") : section[field as keyof Section];
  },
  processTerm: (word) => termOf(word) ?? null,
};

/**
 * Weights by which search results are ranked. A weight applies to all pages whose path begins with `start`. Guides rank higher than the
 * reference, because readers ask for tasks more often than for fields.
 */
const weights: readonly (readonly [start: string, weight: number])[] = [
  ["guides/", 1.3],
  ["start/", 1.1],
  // Most answers about programs are only in the reference.
  ["reference/program/", 1.2],
  ["reference/api/", 0.6],
  ["reference/cli/", 0.7],
  // The error reference has a low weight. A question with the name of an error finds its row anyway, because few other pages contain the
  // name. Other questions are seldom about errors.
  ["reference/errors/", 0.3],
  ["reference/configuration", 0.9],
  ["reference/tables", 0.4],
  ["reference/calls-and-commands", 0.7],
  ["glossary", 0.7],
  ["concepts/benchmarks", 0.3],
  ["benchmarks", 0.3],
  ["concepts/decisions", 0.6],
  // For people who change svc.
  ["concepts/engines", 0.5],
  ["concepts/", 0.9],
  ["changelog", 0.3],
];
/** Weight of a found synonym (a word that means the same as a word of the question). The word itself has the weight 1. */
const sameWeight = 0.5;
/** How much a word of the question counts if a page contains only a synonym of it. A word that the page contains counts 1. */
const sameShare = 0.8;
/** Number of sections of a page in which the words of the search are counted, to rank the page. The page's best sections are used. */
const sectionsRead = 4;
/** The score of a page in a search is the score of its best section plus this share of the scores of its further matching sections. */
const otherSectionsShare = 0.3;
/**
 * Weights of the similarity between a question and a page's example questions. `page`: for the order of the pages. `section`: for the
 * choice of the section that is shown.
 */
const exampleWeights = { page: 1.5, section: 2 };
/**
 * The similarity between a question and the example questions (0 to 1) is raised to this power before pages are ranked. A power above 1
 * makes small similarities count less.
 */
const exampleExponent = 1.5;
/**
 * A page's score by words is divided by the best page's score, and then raised to this power. A power below 1 makes pages with lower scores
 * count more.
 */
const wordExponent = 0.5;

/** Headings that many pages have. They say nothing about what a section is about. */
const commonHeadings = new Set(["Check that it worked", "Check that it works", "What can go wrong", "Steps", "Rules"]);

/** Returns the parts of a section's heading that say what the section is about. */
function tellingHeadingOf(heading: string): string {
  const parts = heading.split(" › ");
  return parts.filter((part) => !commonHeadings.has(part)).join(" ");
}

/** Returns the index of all sections, as a text that `openSearch` reads. */
export function writeIndex(sections: readonly Section[]): string {
  const index = new MiniSearch(options);
  index.addAll(sections);
  return JSON.stringify(index);
}

/** Returns the sections that match a question, best first. */
export type Search = (question: string) => readonly SearchHit[];

/** Returns a search over the text of an index that `writeIndex` returned. */
export function openSearch(indexText: string): Search {
  const index = MiniSearch.loadJSON(indexText, options);
  const asIs = { tokenize: (text: string) => text.split(" "), processTerm: (term: string) => term };
  const isKnown = (term: string) =>
    sameTermsOf(term).length > 0 || index.search(term, { ...asIs, prefix: false, fuzzy: false }).length > 0;
  // The documentation contains most words of a question. Only the others may be misspelt.
  const mayBeMisspelt = (term: string) => term.length > 4 && !isKnown(term);
  const sections = index.search(MiniSearch.wildcard);
  const similarTo = matchExamples(new Map(sections.map(({ id, questions }) => [id, questions])));
  const find = (words: readonly string[]) => {
    const corrected = [...termsOf(words)].map((term) =>
      mayBeMisspelt(term) ? (swapsOf(term).find(isKnown) ?? term) : term,
    );
    const asked: ReadonlySet<string> = new Set(corrected);
    const terms = searchedTerms(asked);
    const found = index.search([...terms.keys()].join(" "), {
      ...asIs,
      boost: { title: 2.5, heading: 3 },
      boostTerm: (term) => terms.get(term) ?? 0,
      prefix: (term) => term.length > 2 && asked.has(term),
      fuzzy: (term) => (asked.has(term) && mayBeMisspelt(term) ? 0.2 : false),
      weights: { prefix: 0.4, fuzzy: 0.25 },
      boostDocument: (_id, _term, stored) => weightOf(String(stored?.["path"] ?? "")),
    });
    return bestOfPages(found, asked, similarTo(asked));
  };
  return (question) => {
    // The search first looks for whole names, such as `SVC_VAULT_KEY`. It uses the parts of names only if no page has the whole name.
    const whole = find(wholeWordsOf(question));
    const best = whole.length > 0 ? whole : find(wordsOf(question));
    return best.map(({ path, title, heading, shown, terms }) => ({ path, title, heading, shown, words: terms }));
  };
}

function termsOf(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.flatMap((word) => termOf(word) ?? []));
}

/** Returns the words that a word becomes if two letters next to each other are swapped: "schedule" for "shcedule". */
function swapsOf(word: string): readonly string[] {
  return [...word]
    .slice(1)
    .map((letter, at) => `${word.slice(0, at)}${letter}${word.slice(at, at + 1)}${word.slice(at + 2)}`);
}

/**
 * Returns the terms of a question and their synonyms, each with its weight. The index searches each of them once. So a term counts at most
 * once, even if it is a word of the question and also a synonym of several other words of the question.
 */
function searchedTerms(asked: ReadonlySet<string>): ReadonlyMap<string, number> {
  const terms = new Map<string, number>([...asked].map((term) => [term, 1]));
  for (const same of [...asked].flatMap(sameTermsOf)) terms.set(same, Math.min(1, (terms.get(same) ?? 0) + sameWeight));
  return terms;
}

/**
 * Returns the best section of each page, best first. A page's rank depends on three things: the scores of its best sections, how many of the
 * words in the question the page contains, and the similarity of the question to the example questions of its sections.
 */
function bestOfPages(
  found: readonly SearchResult[],
  asked: ReadonlySet<string>,
  similarity: Similarity,
): SearchResult[] {
  const wordScoreOf = scorePages(found, asked);
  const pages = Map.groupBy(found, ({ path }) => pageOf(String(path)));
  const highest = Math.max(...[...pages.values()].map(wordScoreOf));
  const similarityOf = ({ id }: SearchResult) => (similarity.get(id) ?? 0) ** exampleExponent;
  const best = [...pages.values()].flatMap((sections) => {
    const score =
      (wordScoreOf(sections) / highest) ** wordExponent + exampleWeights.page * Math.max(...sections.map(similarityOf));
    const rankOf = (section: SearchResult) =>
      section.score / (sections[0]?.score ?? 1) + exampleWeights.section * similarityOf(section);
    return sections
      .toSorted((a, b) => rankOf(b) - rankOf(a))
      .slice(0, 1)
      .map((section) => ({ ...section, score }));
  });
  return best.toSorted((a, b) => b.score - a.score);
}

function pageOf(path: string): string {
  return path.replace(/#.*/, "");
}

/** Returns a function that scores a page by the words that its found sections contain. The sections of a page are given best first. */
function scorePages(found: readonly SearchResult[], asked: ReadonlySet<string>) {
  const counts = Map.groupBy(
    found.flatMap(({ queryTerms }) => queryTerms),
    (term) => term,
  );
  // A rare word says more about the question than a common word.
  const worthOf = (term: string) => Math.log(1 + found.length / (counts.get(term)?.length ?? found.length));
  return (sections: readonly SearchResult[]): number => {
    const read = sections.slice(0, sectionsRead);
    const terms = new Set(read.flatMap(({ queryTerms }) => queryTerms));
    const shareOf = (term: string) =>
      terms.has(term) ? 1 : sameTermsOf(term).some((same) => terms.has(same)) ? sameShare : 0;
    const answered = [...asked].reduce((sum, term) => sum + worthOf(term) * shareOf(term), 0);
    const score = read.reduce((sum, { score }, place) => sum + (place === 0 ? score : otherSectionsShare * score), 0);
    return score * answered;
  };
}

function weightOf(path: string): number {
  return weights.find(([start]) => path.startsWith(start))?.[1] ?? 1;
}
