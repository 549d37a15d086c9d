import type { ToolDefinition, Toolkit } from "@svc/catalog";
import { termsOf } from "./words.ts";

/** What somebody may say who wants a tool, as it is indexed: its words, and which of them stand for each other. */
export type Phrase = {
  /** The place that each term fills: terms of one place are choices, of which a query holds one. */
  readonly places: ReadonlyMap<string, number>;
  /** Places that cannot be left out, at least 1. */
  readonly size: number;
};

/** The phrases of a tool: the intents of its definition and what its toolkit's sayings have of it. */
export function phrasesOf(tool: ToolDefinition, toolkit: Toolkit): readonly Phrase[] {
  return [...tool.intents, ...(toolkit.sayings?.get(tool.name) ?? [])].map(readPhrase);
}

/** How often the sayings of a tool have a term: one of several choices counts less than a word that is always said. */
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

/** A text without the names that it has for an example, which are no words of it. */
export function withoutNames(text: string): string {
  return text.replaceAll(/(?<=\S\s+|[(|])\p{Lu}\p{Ll}+(?:'s)?/gu, " ");
}

/** What stands at each place of a saying: one text, or its choices. */
function placesOf(saying: string): string[][] {
  return withoutNames(saying)
    .split(/\(([^()]*)\)/)
    .map((part, index) => (index % 2 === 0 ? [part] : part.split("|")));
}
