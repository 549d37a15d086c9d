import { stemmer } from "stemmer";
import vocabulary from "./vocabulary.json" with { type: "json" };

type Phrase = { readonly words: readonly string[]; readonly meaning: string };

/** `call off` means `cancel`: each phrase with its meaning, under its first word, the longest first. */
const phrases: ReadonlyMap<string, readonly Phrase[]> = Map.groupBy(
  Object.entries(vocabulary.phrases)
    .map(([phrase, meaning]) => ({ words: phrase.split(" "), meaning }))
    .sort((a, b) => b.words.length - a.words.length),
  ({ words }) => words[0] ?? "",
);
/** Words that say nothing of what is wanted, by their stems. */
const stopWords: ReadonlySet<string> = new Set(vocabulary.stopWords);
/** Forms that the stemmer cannot lead back, such as `sent`. A Map, since words of a query may be names of Object.prototype. */
const irregularForms: ReadonlyMap<string, string> = new Map(Object.entries(vocabulary.irregularForms));
const isAscii = /^[ -~]*$/;
const stems = new Map<string, string>();
/** Every word of 610 definitions, many times over; what a deployment's own add is rarely more. */
const stemsKeptMax = 50_000;

/** The plain words of a text: lower case, without accents and signs; `PDFReader` is two, `don't` is `dont`. */
export function wordsOf(text: string): string[] {
  const plain = isAscii.test(text) ? text : text.normalize("NFKD").replace(/\p{M}+/gu, "");
  const joined = plain.replace(/(\p{L})['’](?=\p{L})/gu, "$1");
  const parted = joined.replace(/(\p{Ll}|\p{N})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1$2 ");
  return parted.toLowerCase().match(isAscii.test(parted) ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu) ?? [];
}

/** All words of a text in order, with the meaning of a phrase in its place. */
export function readWords(text: string): string[] {
  return readPhrases(wordsOf(text));
}

/** Words with the meaning of each phrase in its place. */
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

/** A word as it is indexed: its stem. */
export function termOf(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const term = stemmer(irregularForms.get(word) ?? word);
  if (stems.size < stemsKeptMax) stems.set(word, term);
  return term;
}

/** The words of a text as they are indexed, in order, without stop words and single letters. */
export function termsOf(text: string): string[] {
  return readWords(text).filter(isTelling).map(termOf);
}

/** Whether a word helps to tell tools apart. */
export function isTelling(word: string): boolean {
  return !stopWords.has(word) && (word.length > 1 || /\p{N}|[^\p{ASCII}]/u.test(word));
}
