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

/** Words of time, those of other languages among them. */
const times: ReadonlySet<string> = new Set(vocabulary.times);

/** The English words that search knows: those that stand between others, and the others by their terms. */
export const englishWords = {
  functional: new Set(functional) as ReadonlySet<string>,
  telling: new Set(telling.map(termOf)) as ReadonlySet<string>,
  all: [...new Set([...telling, ...functional, ...times])] as readonly string[],
} as const;

/** True if search knows the word, or another form of it; any word of time is known. */
export function isEnglish(word: string): boolean {
  return times.has(word) || englishWords.functional.has(word) || englishWords.telling.has(termOf(word));
}

/** Words of a text as foreign ones are compared: `ß` as `ss`, `oe` as it stands. */
export function plainWords(text: string): string[] {
  return wordsOf(text.replaceAll("ß", "ss"));
}

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
