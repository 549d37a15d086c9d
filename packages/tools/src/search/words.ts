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
const stems = new Map<string, string>();
/**
 * Maximum number of stems in the cache. The 610 definitions that svc ships have far fewer words, and the definitions of a deployment
 * usually add few.
 */
const stemsKeptMax = 50_000;

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
export function termOf(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const term = stemmer(irregularForms.get(word) ?? word);
  if (stems.size < stemsKeptMax) stems.set(word, term);
  return term;
}

/** Returns the words of a text in the form of the search index, in order, without stop words and single letters. */
export function termsOf(text: string): string[] {
  return readWords(text).filter(isTelling).map(termOf);
}

/** True if a word helps to distinguish tools. False for stop words such as `the`. */
export function isTelling(word: string): boolean {
  return !stopWords.has(word) && (word.length > 1 || /\p{N}|[^\p{ASCII}]/u.test(word));
}
