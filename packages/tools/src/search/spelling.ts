import SearchableMap from "minisearch/SearchableMap";
import { englishWords } from "./vocabulary-words.ts";

const spellings = SearchableMap.from(englishWords.all.map((word) => [word, true] as const));
/** Words by what is left of them without vowels, as in `grp` and `vctr`: of several the one that search knows first, what is done before what it is done to. */
const skeletons = new Map(
  englishWords.all
    .toReversed()
    .flatMap((word) => (/^[a-z]{4,}$/.test(word) ? [[skeletonOf(word), word] as const] : [])),
);
const vowels = /[aeiou]/;
const skeletonMin = 3;
/** Shorter words have too many that differ from them in one letter. */
const lengthMin = 5;
const lengthMax = 30;
/** From this length on, two letters may differ. */
const twoFaultsMin = 8;

/**
 * Returns the word of the vocabulary that was meant by a misspelled one: it begins alike, and all vowels are left out, one letter differs, or two
 * stand in each other's place.
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

/** Returns how many letters of a word may differ from what is meant. */
export function faultsMax(word: string): number {
  return word.length < twoFaultsMin ? 1 : 2;
}

/** Returns the words that a word is with two neighbouring letters in each other's place. */
export function swapsOf(word: string): string[] {
  return Array.from({ length: Math.max(0, word.length - 1) }, (_, at) => {
    return `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`;
  });
}

function skeletonOf(word: string): string {
  return word.slice(0, 1) + word.slice(1).replaceAll(/[aeiou]/g, "");
}
