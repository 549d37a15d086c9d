import type { QueryWord } from "./query-words.ts";
import { formMark } from "./tool-terms.ts";
import type { Term, ViewIndex } from "./view-index.ts";

/** What a word of a query may stand for: itself, its synonyms, or terms spelled like it. */
export type Meaning = {
  /** The word as it is indexed. */
  readonly word: string;
  /** How much the word tells: what a tool gets at most for it. */
  readonly worth: number;
  /** A tool gets the best of them, not their sum. */
  readonly terms: readonly KnownTerm[];
  /** That a tool holds it shows no fit. */
  readonly isVague: boolean;
  /** True if it is what a tool is called with: a tool need not hold it. */
  readonly isData: boolean;
  /** The word as it is written, which names are worth more for; undefined where none has it. */
  readonly form: KnownTerm | undefined;
};

/** The meanings of a query, and how much it would be worth if a tool held all of it that is not vague, words that no tool holds among them. */
export type Meanings = { readonly known: readonly Meaning[]; readonly worthOfAll: number };

/** A term with what a tool gets for holding it. */
export type KnownTerm = Term & { readonly term: string };

/** Of the worth of a word, what a name gets on top that has it in the same form. */
const formShare = 0.4;
/** Of the worth of a word, what a synonym counts. */
const synonymShare = 0.4;
/** Of the worth of a term, what a word counts that begins it, or is spelled almost like it. */
const spellingShare = 0.4;
/** Words of one query that are tried as misspelled: each walks the spellings of all toolkits. */
const spelledWordsMax = 6;
/** What a name counts that no tool holds, of another word: most are what a tool is called with. */
const unknownNameShare = 0.25;
/** What is unknown of a word that was corrected: something else may have been meant. */
const correctedShare = 0.3;
/** What a vague word counts of another, where no tool holds it. */
const vagueShare = 0.5;
/** What a word is worth at least that no tool holds: in a query of such words alone there is no other to compare it with. */
const unknownWorthMin = 1.5;

/** What the words stand for in a view. A word that no tool holds in any form is left out of `known`. */
export function meaningsOf(words: readonly QueryWord[], view: ViewIndex): Meanings {
  let spelledWords = 0;
  let unknown = 0;
  const known = words.flatMap(
    ({ term: word, form, synonyms, share, isData, isName, isCorrected, isForeign, isVague }) => {
      let terms = knownTerms(word, synonyms, view);
      if (isCorrected) unknown += correctedShare;
      if (terms.length === 0) {
        if (isData) return [];
        unknown += unknownShareOf({ isName, isForeign, isVague });
        terms = !isName && spelledWords++ < spelledWordsMax ? spelledTerms(word, view) : [];
      }
      if (terms.length === 0) return [];
      const shared = terms.map((found) => ({ ...found, worth: found.worth * share }));
      const worth = Math.max(...shared.map((found) => found.worth));
      const [written] = findTerm(formMark + form, view, () => formShare * worth);
      const isGuessed = isForeign && terms.every(({ term }) => term !== word);
      return [{ word, worth, terms: shared, form: written, isVague: isVague || isGuessed, isData }];
    },
  );
  const most = Math.max(unknownWorthMin, ...known.map(({ worth, isVague }) => (isVague ? 0 : worth)));
  const worthOfKnown = known.reduce((sum, { worth, isData }) => sum + (isData ? 0 : worth), 0);
  return { known, worthOfAll: worthOfKnown + unknown * most };
}

/** A name of another language may as well be any noun. */
function unknownShareOf({ isName, isForeign, isVague }: Pick<QueryWord, "isName" | "isForeign" | "isVague">): number {
  if (isName && !isForeign) return unknownNameShare;
  return isName || isVague ? vagueShare : 1;
}

/** The word itself and its synonyms. None counts for more than the word: it was written, they were not. */
function knownTerms(word: string, synonyms: readonly string[], view: ViewIndex): KnownTerm[] {
  const own = findTerm(word, view, (worth) => worth);
  const most = own[0]?.worth ?? Number.POSITIVE_INFINITY;
  return [...own, ...synonyms.flatMap((term) => findTerm(term, view, (worth) => synonymShare * Math.min(worth, most)))];
}

function spelledTerms(word: string, view: ViewIndex): KnownTerm[] {
  return [...view.spelledLike(word)].flatMap((term) => findTerm(term, view, (worth) => spellingShare * worth));
}

function findTerm(term: string, view: ViewIndex, worthOf: (worth: number) => number): KnownTerm[] {
  const found = view.find(term);
  return found === undefined ? [] : [{ term, worth: worthOf(found.worth), postings: found.postings }];
}
