import type { QueryWord } from "./query-words.ts";
import { formMark } from "./tool-terms.ts";
import type { Term, ViewIndex } from "./view-index.ts";

/** Possible meanings of a word in a query: the word itself, its synonyms, or terms with similar spelling. */
export type Meaning = {
  /** The query's word in its indexed form. */
  readonly word: string;
  /** Weight of the word: the maximum that a tool gets for it. */
  readonly worth: number;
  /** Terms that match the word. A tool gets the weight of its best term, and not the sum of several. */
  readonly terms: readonly KnownTerm[];
  /** True if this word in a tool does not show that the tool fits. */
  readonly isVague: boolean;
  /** True if the word is data for a tool. The tool need not contain such a word. */
  readonly isData: boolean;
  /** The word as written, which weighs more in names. Undefined if no tool contains the word in this form. */
  readonly form: KnownTerm | undefined;
};

/** Meanings of a query. `worthOfAll`: weight of all words that are not vague, including words that no tool contains. */
export type Meanings = { readonly known: readonly Meaning[]; readonly worthOfAll: number };

/** A term and the weight that a tool gets for it. */
export type KnownTerm = Term & { readonly term: string };

/** Additional share of a word's weight if a tool's name contains the word in the same form. */
const formShare = 0.4;
/** Share of a word's weight for a synonym. */
const synonymShare = 0.4;
/** Share of a term's weight for a word of the query that is the start of the term or is spelled almost like it. */
const spellingShare = 0.4;
/** Maximum number of a query's words that are corrected. Each correction searches the spellings of all toolkits. */
const spelledWordsMax = 6;
/** Share of the weight that an unknown name has, compared with other unknown words. Most names are data for a tool. */
const unknownNameShare = 0.25;
/** Share of a corrected word's weight that counts as unknown, because the person may have meant another word. */
const correctedShare = 0.3;
/** Share of the weight that an unknown vague word has, compared with other unknown words. */
const vagueShare = 0.5;
/** Minimum weight of an unknown word. If all words of a query are unknown, there are no other weights to compare with. */
const unknownWorthMin = 1.5;

/** Returns the meanings of words in a view. `known` omits words that no tool contains in any form. */
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

/** Returns the share of the weight of an unknown word. In another language, a word that looks like a name may also be an ordinary noun. */
function unknownShareOf({ isName, isForeign, isVague }: Pick<QueryWord, "isName" | "isForeign" | "isVague">): number {
  if (isName && !isForeign) return unknownNameShare;
  return isName || isVague ? vagueShare : 1;
}

/** Returns the word itself and its synonyms, as terms. A synonym never weighs more than the written word. */
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
