import SearchableMap from "minisearch/SearchableMap";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { termOf, wordsOf } from "./words.ts";

const telling = [
  ...Object.values(vocabulary.verbClasses).flat(),
  ...vocabulary.synonyms.flat(),
  ...Object.entries(vocabulary.phrases).flatMap(([phrase, meaning]) => [...phrase.split(" "), meaning]),
  ...Object.entries(vocabulary.idioms).flatMap(([meaning, texts]) => [...wordsOf(texts), ...wordsOf(meaning)]),
  ...vocabulary.plain,
  ...vocabulary.fillers,
  ...vocabulary.qualifiers,
];
const functional = [...vocabulary.stopWords, ...vocabulary.asking, ...vocabulary.prepositions];

/** Words for times, including those of other languages. */
const times: ReadonlySet<string> = new Set(vocabulary.times);

/**
 * English words that the search knows. `functional`: function words such as `the`. `telling`: other words, each in the form of the search
 * index (`termOf`). `all`: every word as it is written, including words for times.
 */
export const englishWords = {
  functional: new Set(functional) as ReadonlySet<string>,
  telling: new Set(telling.map(termOf)) as ReadonlySet<string>,
  all: [...new Set([...telling, ...functional, ...times])] as readonly string[],
} as const;

/** True if the search knows the word, or another form of it, as English. True also for all words of time. False for other words. */
export function isEnglish(word: string): boolean {
  return times.has(word) || englishWords.functional.has(word) || englishWords.telling.has(termOf(word));
}

const spellings = SearchableMap.from(englishWords.all.map((word) => [word, true] as const));
/**
 * Known words by their consonants (for example `grp` for `group`), to recognize words without vowels. If several words have the same
 * consonants, the first one is used; verbs come before objects.
 */
const skeletons = new Map(
  englishWords.all
    .toReversed()
    .flatMap((word) => (/^[a-z]{4,}$/.test(word) ? [[skeletonOf(word), word] as const] : [])),
);
const vowels = /[aeiou]/;
const skeletonMin = 3;
/** Minimum length of a word that is corrected, because too many words are similar to a shorter one. `lengthMax`: maximum length. */
const lengthMin = 5;
const lengthMax = 30;
/** Length of a word from which two letters may be wrong instead of one. */
const twoFaultsMin = 8;

/**
 * Returns the known word that a misspelled word probably means; undefined if no known word is similar enough. Accepted mistakes are missing
 * vowels after the first letter, two swapped neighboring letters, and one or two wrong letters after the first.
 */
export function correctWord(word: string): string | undefined {
  const isBare = word.length >= skeletonMin && !vowels.test(word.slice(1));
  const meant = isBare ? skeletons.get(word) : undefined;
  if (meant !== undefined) return meant;
  if (word.length < lengthMin || word.length > lengthMax || !/^[a-z]+$/.test(word)) return undefined;
  const swapped = swapsOf(word).find((text) => spellings.has(text));
  if (swapped !== undefined) return swapped;
  const found = [...spellings.fuzzyGet(word, faultsMax(word))].filter(([text]) => text[0] === word[0]);
  const [best] = found.sort(([, [, a]], [, [, b]]) => a - b);
  return best?.[0];
}

/**
 * Returns the maximum number of wrong letters with which svc still recognizes a misspelled word. The number depends on the length of the
 * word.
 */
export function faultsMax(word: string): number {
  return word.length < twoFaultsMin ? 1 : 2;
}

/** Returns a word's variants with two neighboring letters swapped. */
export function swapsOf(word: string): string[] {
  return Array.from({ length: Math.max(0, word.length - 1) }, (_, at) => {
    return `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`;
  });
}

function skeletonOf(word: string): string {
  return word.slice(0, 1) + word.slice(1).replaceAll(/[aeiou]/g, "");
}
