import { stemmer } from "stemmer";
import vocabulary from "./vocabulary.json" with { type: "json" };

type Phrase = { readonly words: readonly string[]; readonly meaning: string };

/** Phrases with their meanings (for example `call off` means `cancel`), by their first word. Longer phrases come first. */
const phrases: ReadonlyMap<string, readonly Phrase[]> = Map.groupBy(
  Object.entries(vocabulary.phrases)
    .map(([phrase, meaning]) => ({ words: phrase.split(" "), meaning }))
    .sort((a, b) => b.words.length - a.words.length),
  ({ words }) => words[0] ?? "",
);
/** Stems of words that do not describe the request. */
const stopWords: ReadonlySet<string> = new Set(vocabulary.stopWords);
/** Word forms that the stemmer cannot reduce, such as `sent`. A Map is used because a query may contain names of Object.prototype. */
const irregularForms: ReadonlyMap<string, string> = new Map(Object.entries(vocabulary.irregularForms));
const isAscii = /^[ -~]*$/;
/**
 * Maximum number of words in a cache. The 610 definitions that svc ships have far fewer words, and the definitions of a deployment usually
 * add few.
 */
const wordsKeptMax = 50_000;
/** Maximum number of letters of a cached word. Longer ones are hardly ever repeated. */
const lengthKeptMax = 40;

/** Returns a function with the same results as `read`, which depend only on the word. The results of up to 50,000 words are kept. */
export function cached<T>(read: (word: string) => T): (word: string) => T {
  const known = new Map<string, { readonly result: T }>();
  return (word) => {
    const found = known.get(word);
    if (found !== undefined) return found.result;
    const result = read(word);
    if (known.size < wordsKeptMax && word.length <= lengthKeptMax) known.set(word, { result });
    return result;
  };
}

/** Letters without a decomposition in Unicode, and the letters that people type instead, such as `ss` for `ß`. */
const plainLetters: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ß: "ss",
    ẞ: "SS",
    œ: "oe",
    Œ: "OE",
    æ: "ae",
    Æ: "AE",
    ø: "o",
    Ø: "O",
    ł: "l",
    Ł: "L",
    đ: "d",
    Đ: "D",
  }),
);
const letterOfItsOwn = new RegExp(`[${[...plainLetters.keys()].join("")}]`, "gu");

/**
 * Returns the plain words of a text: in lower case, without accents and signs. `PDFReader` gives two words; `don't` gives `dont`; `Größe`
 * gives `grosse`.
 */
export function wordsOf(text: string): string[] {
  const plain = isAscii.test(text) ? text : withPlainLetters(text);
  const joined = plain.replace(/(\p{L})['’](?=\p{L})/gu, "$1");
  const parted = joined.replace(/(\p{Ll}|\p{N})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1$2 ");
  return parted.toLowerCase().match(isAscii.test(parted) ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu) ?? [];
}

function withPlainLetters(text: string): string {
  const bare = text.normalize("NFKD").replace(/\p{M}+/gu, "");
  return bare.replace(letterOfItsOwn, (letter) => plainLetters.get(letter) ?? letter);
}

/** Returns all words of a text in order. A phrase such as `get rid of` is replaced by its meaning, such as `delete`. */
export function readWords(text: string): string[] {
  return readPhrases(wordsOf(text));
}

/** Returns the words, with phrases such as `get rid of` replaced by their meaning, such as `delete`. */
export function readPhrases(words: readonly string[]): string[] {
  const read: string[] = [];
  for (let start = 0; start < words.length; ) {
    const word = words[start] ?? "";
    const phrase = phrases
      .get(word)
      ?.find((known) => known.words.every((part, index) => words[start + index] === part));
    read.push(phrase?.meaning ?? word);
    start += phrase?.words.length ?? 1;
  }
  return read;
}

/** Returns the form in which the search index has a word: its stem. */
export const termOf: (word: string) => string = cached((word) => stemmer(irregularForms.get(word) ?? word));

/** Returns the words of a text in the form of the search index, in order, without stop words and single letters. */
export function termsOf(text: string): string[] {
  return termsOfWords(wordsOf(text));
}

/**
 * Returns the terms of a list of words: the words in the form of the search index, in order, without stop words and single letters. A known
 * phrase, such as `get rid of`, becomes the terms of its meaning.
 */
export function termsOfWords(words: readonly string[]): string[] {
  const terms: string[] = [];
  for (let start = 0; start < words.length; ) {
    const word = readingOf(words[start] ?? "");
    const phrase = word.phrases?.find((known) => known.words.every((part, index) => words[start + index] === part));
    terms.push(...(phrase === undefined ? word : readingOf(phrase.meaning)).terms);
    start += phrase?.words.length ?? 1;
  }
  return terms;
}

/**
 * Data about a word, to read the texts that contain it. `terms`: the term of the word; empty for a stop word. `phrases`: phrases that begin
 * with it.
 */
const readingOf = cached((word) => ({ terms: isTelling(word) ? [termOf(word)] : [], phrases: phrases.get(word) }));

/** True if a word helps to distinguish tools. False for stop words such as `the`. */
export function isTelling(word: string): boolean {
  return word.length > 1 ? !stopWords.has(word) : !stopWords.has(word) && /\p{N}|[^\p{ASCII}]/u.test(word);
}
