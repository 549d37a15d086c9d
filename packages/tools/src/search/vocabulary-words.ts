import vocabulary from "./vocabulary.json" with { type: "json" };
import { termOf, wordsOf } from "./words.ts";

const telling = [
  ...Object.values(vocabulary.deeds).flat(),
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
