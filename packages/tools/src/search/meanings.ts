import type { QueryWord } from "./query-words.ts";
import { formMark } from "./tool-terms.ts";
import type { Term, ViewIndex } from "./view-index.ts";

/** Possible meanings of a word in a query: the word itself, its synonyms, or terms with similar spelling. */
export type Meaning = {
  /** The word of the query in the form that the search index contains (for example its stem). */
  readonly word: string;
  /** Weight of the word: the highest weight that a tool can get for it. */
  readonly worth: number;
  /**
   * Terms of the search index that match one word of the query. If a tool contains several of them, only its best term counts, not the sum.
   */
  readonly terms: readonly KnownTerm[];
  /** True if a match of this word does not show that the tool fits, because the word is too general. False for other words. */
  readonly isVague: boolean;
  /**
   * True if the word is data for a tool, such as an id. The score of a tool does not fall if it lacks such a word. False for words that
   * describe the request.
   */
  readonly isData: boolean;
  /**
   * The word exactly as the query contains it. It adds weight if a tool's name contains it. Undefined if no tool's name contains it in this
   * form.
   */
  readonly form: KnownTerm | undefined;
};

/**
 * Meanings of the words of a query. `known`: the words that at least one tool contains. `worthOfAll`: sum of the weights of all words of
 * the request, also of those that no tool contains. Words that are only data (such as ids) are not included.
 */
export type Meanings = { readonly known: readonly Meaning[]; readonly worthOfAll: number };

/** A term of the search index, with the weight that a tool gets if it contains the term. */
export type KnownTerm = Term & { readonly term: string };

/** Additional share of a word's weight for a tool whose name contains the word in exactly the form of the query. */
const formShare = 0.4;
/** Share of a term's weight that counts if the term is only a synonym of the query's word. */
const synonymShare = 0.4;
/** Share of its weight that a term gets if the query's word is only the start of the term, or is spelled almost like it. */
const spellingShare = 0.4;
/** Maximum number of a query's words that are corrected, because each correction searches the spellings of all toolkits (apps). */
const spelledWordsMax = 6;
/**
 * Weight of an unknown word that is probably a name. It is given as a share of the weight that any other unknown word has. It is low,
 * because most names are only data for a tool.
 */
const unknownNameShare = 0.25;
/** Share of a misspelled word that still counts as unknown, because its correction may be wrong. */
const correctedShare = 0.3;
/** Weight of an unknown word that is vague (too general), relative to other unknown words. */
const vagueShare = 0.5;
/** Minimum weight of an unknown word. It is needed if all words are unknown, because there is then no other weight to compare it with. */
const unknownWorthMin = 1.5;

/**
 * Returns the meanings of a query's words in a view (the tools that a project sees). A word that no tool contains in any form is left out
 * of `known`.
 */
export function meaningsOf(words: readonly QueryWord[], view: ViewIndex): Meanings {
  let spelledWords = 0;
  let unknown = 0;
  const known = words.flatMap(
    ({ term: word, form, written: foreign, synonyms, share, isData, isName, isCorrected, isForeign, isVague }) => {
      // A tool whose texts have the word itself fits better than one that has only its translation.
      const untranslated = foreign === undefined ? [] : findTerm(foreign, view, (worth) => worth);
      let terms = [...knownTerms(word, synonyms, view), ...untranslated];
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

/**
 * Returns the weight of a query word that no tool contains, as a share of the full weight 1. A word that looks like a name weighs less. In
 * a query that is not in English, such a word may be an ordinary noun, so it weighs more.
 */
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
