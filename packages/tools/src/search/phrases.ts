import type { Catalog, Tool, Toolkit } from "@svc/catalog";
import { foreignWordsOf, signsOf, sumOf, translatorOf } from "./translate.ts";
import { cached, termsOfWords, wordsOf } from "./words.ts";

/** Word that replaces a choice in an example phrase while the other words are translated, before the position of the choice. */
const choiceMark = "qx";
/** Pattern for the parts of an example phrase: a word, or a sign of a choice such as `(call|ring)`. */
const partOfPhrase = /[\p{L}\p{M}\p{N}'’]+|[()|]/gu;
/**
 * A word of a phrase, as people write it. `own`: its words in an English phrase. `foreign`: its words in another language: `l'équipe` has
 * two. `signs`: how much it is a sign of each language.
 */
type PhraseWord = {
  readonly own: readonly string[];
  readonly foreign: readonly string[];
  readonly signs: readonly number[];
};
const readWord = cached((text): PhraseWord => {
  const foreign = foreignWordsOf(text);
  return { own: wordsOf(text), foreign, signs: signsOf(foreign) };
});

/** An example request for a tool, as the search index stores it: its words, and alternatives to some of them. */
export type Phrase = {
  /** Position of each term in the phrase. Terms with the same position are alternatives: a query needs only one of them. */
  readonly places: ReadonlyMap<string, number>;
  /**
   * Number of words that a query must contain to match the whole phrase, at least 1. Words that are alternatives count as one. Words that
   * may be left out do not count.
   */
  readonly size: number;
};

/** Returns the phrases of a tool: the intents of its definition and its example phrases. */
export function phrasesOf(tool: Tool, toolkit: Toolkit): readonly Phrase[] {
  return [...tool.intents, ...sayingsOf(tool, toolkit)].map(readPhrase);
}

/** Maximum number of words of the first sentence of a description that counts as an example phrase. */
const summaryWordsMax = 12;

/**
 * Returns the example phrases of a tool: those of its toolkit (app), and those that the project of a private toolkit added. An imported
 * toolkit has no phrases of its own. The name of the tool and the first sentence of its description are used instead, because people often
 * ask with these words.
 */
export function sayingsOf(tool: Tool, toolkit: Toolkit): readonly string[] {
  const added = tool.kind === "action" ? (tool.phrases ?? []) : [];
  if (toolkit.sayings !== undefined) return [...(toolkit.sayings.get(tool.name) ?? []), ...added];
  return hasIntents(toolkit) ? added : [...ownPhrasesOf(tool), ...added];
}

const intended = new WeakMap<Toolkit, boolean>();

function hasIntents(toolkit: Toolkit): boolean {
  const found = intended.get(toolkit) ?? toolkit.actions.some(({ intents }) => intents.length > 0);
  intended.set(toolkit, found);
  return found;
}

/** Titles of a project's programs, by the slug of the tool that they call. */
type Titles = NonNullable<Catalog["titles"]>;

const titlePhrases = new WeakMap<Titles, ReadonlyMap<string, Phrase>>();

/** True if `readTitles` has finished reading these titles of saved programs, so that the search can use them. */
export function areTitlesRead(titles: Titles): boolean {
  return titlePhrases.has(titles);
}

/**
 * Reads the titles of saved programs as example phrases of the tools that the programs call, each text once. Returns the phrases by text.
 * Yields after each text, so that other work can run in between.
 */
export function* readTitles(titles: Titles): Generator<void, ReadonlyMap<string, Phrase>> {
  const known = titlePhrases.get(titles);
  if (known !== undefined) return known;
  const made = new Map<string, Phrase>();
  for (const text of new Set([...titles.values()].flat())) {
    made.set(text, readPhrase(text));
    yield;
  }
  titlePhrases.set(titles, made);
  return made;
}

function ownPhrasesOf({ name, description }: Tool): readonly string[] {
  const [sentence = ""] = description.split(/[.:;!?](?:\s|$)/, 1);
  const summary = sentence.replaceAll(/[()|]/g, " ");
  return [name.replaceAll("_", " "), ...(wordsOf(summary).length > summaryWordsMax ? [] : [summary])];
}

/**
 * Returns how often a tool's example phrases contain each term. If a phrase gives several words to choose from, each of these words counts
 * less.
 */
export function countSaid(sayings: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const saying of sayings) {
    for (const choices of placesOf(saying)) {
      const share = 1 / Math.sqrt(choices.length);
      for (const term of new Set(choices.flat())) counts.set(term, (counts.get(term) ?? 0) + share);
    }
  }
  return counts;
}

/** Prepares an example phrase for search. */
function readPhrase(text: string): Phrase {
  const places = new Map<string, number>();
  let count = 0;
  let size = 0;
  for (const terms of placesOf(text)) {
    const telling = terms.filter((choice) => choice.length > 0);
    if (telling.length === 0) continue;
    if (terms.length === 1) {
      for (const term of telling.flat()) {
        if (places.has(term)) continue;
        places.set(term, count++);
        size++;
      }
      continue;
    }
    for (const term of telling.flat()) if (!places.has(term)) places.set(term, count);
    count++;
    if (telling.length === terms.length) size++;
  }
  return { places, size: Math.max(1, size) };
}

/** Returns a text without the names in it that are only examples, such as the name of a person. */
export function withoutNames(text: string): string {
  return text.replaceAll(/(?<=\S\s+|[(|])\p{Lu}\p{Ll}+(?:'s)?/gu, " ");
}

/**
 * Returns the terms at each position of an example phrase: of one text, or of its alternatives. A phrase in another language is translated
 * into English, as queries are. Its names are kept, because German nouns begin with a capital letter too.
 */
function placesOf(saying: string): readonly (readonly (readonly string[])[])[] {
  const written = textsOf(saying);
  const all = written.flat(2);
  const translated = translatorOf(
    all.flatMap(({ foreign }) => foreign),
    sumOf(all.map(({ signs }) => signs)),
  );
  if (translated === undefined) {
    const unnamed = withoutNames(saying);
    const texts = unnamed === saying ? written : textsOf(unnamed);
    return texts.map((choices) => choices.map((text) => termsOfWords(text.flatMap(({ own }) => own))));
  }
  const places = written.map((choices) => choices.map((text) => text.flatMap(({ foreign }) => foreign)));
  // The fixed words are translated together, because a verb may have two parts, as the German `leg … an`. A mark replaces each choice.
  const marked = places.flatMap((texts, at) => (texts.length === 1 ? texts.flat() : [`${choiceMark}${at}`]));
  return partsOf(translated(marked)).map((words) => {
    const texts = isMark(words[0]) ? places[Number(words[0].slice(choiceMark.length))]?.map(translated) : undefined;
    return (texts ?? [words]).map(termsOfWords);
  });
}

/** Returns the words of an example phrase by position. A position has one text, or the texts of a choice such as `(call|ring)`. */
function textsOf(saying: string): PhraseWord[][][] {
  const places: PhraseWord[][][] = [[[]]];
  for (const part of saying.match(partOfPhrase) ?? []) {
    if (part === "(" || part === ")") places.push([[]]);
    else if (part === "|") places.at(-1)?.push([]);
    else places.at(-1)?.at(-1)?.push(readWord(part));
  }
  return places;
}

/** Splits the words of a phrase so that each mark of a choice is a part of its own. */
function partsOf(words: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  for (const word of words) {
    if (isMark(word)) parts.push([word], []);
    else parts.at(-1)?.push(word);
  }
  return parts;
}

function isMark(word: string | undefined): word is string {
  return word !== undefined && /^qx\d+$/.test(word);
}
