import type { ToolDefinition, Toolkit } from "@svc/catalog";
import { translatorOf } from "./translate.ts";
import { termsOf } from "./words.ts";

/** Word that replaces a choice in an example phrase while the other words are translated. */
const choiceMark = "qx";
const markedChoice = new RegExp(`\\b${choiceMark}(\\d+)\\b`);

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

/** Returns the phrases of a tool: the intents of its definition and the example phrases of its toolkit (app). */
export function phrasesOf(tool: ToolDefinition, toolkit: Toolkit): readonly Phrase[] {
  return [...tool.intents, ...(toolkit.sayings?.get(tool.name) ?? [])].map(readPhrase);
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
      for (const term of new Set(choices.flatMap(termsOf))) counts.set(term, (counts.get(term) ?? 0) + share);
    }
  }
  return counts;
}

function readPhrase(text: string): Phrase {
  const places = new Map<string, number>();
  let count = 0;
  let size = 0;
  for (const choices of placesOf(text)) {
    const terms = choices.map(termsOf);
    const telling = terms.filter((choice) => choice.length > 0);
    if (telling.length === 0) continue;
    if (choices.length === 1) {
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
 * Returns the texts at each position of an example phrase: one text, or its alternatives. A phrase in another language is translated into
 * English, as queries are. Its names are kept, because German nouns begin with a capital letter too.
 */
function placesOf(saying: string): string[][] {
  const translated = translatorOf(saying);
  const parts = (translated === undefined ? withoutNames(saying) : saying).split(/\(([^()]*)\)/);
  const choicesAt = (at: number) => parts[at]?.split("|") ?? [];
  if (translated === undefined) return parts.map((part, at) => (at % 2 === 0 ? [part] : choicesAt(at)));
  // The fixed words are translated together, because a verb may have two parts, as the German `leg … an`. A mark replaces each choice.
  const marked = parts.map((part, at) => (at % 2 === 0 ? part : ` ${choiceMark}${at} `)).join("");
  return translated(marked)
    .split(markedChoice)
    .map((part, at) => (at % 2 === 0 ? [part] : choicesAt(Number(part)).map(translated)));
}
