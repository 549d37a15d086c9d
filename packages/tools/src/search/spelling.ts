import SearchableMap from "minisearch/SearchableMap";
import { englishWords } from "./vocabulary-words.ts";

const spellings = SearchableMap.from(englishWords.all.map((word) => [word, true] as const));
/** Shorter words have too many that differ from them in one letter. */
const lengthMin = 5;
const lengthMax = 30;
/** From this length on, two letters may differ. */
const twoFaultsMin = 8;

/** Returns the word of the vocabulary that was meant by a misspelled one: it begins alike, and one letter differs, or two stand in each other's place. */
export function correctWord(word: string): string | undefined {
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
