import vocabulary from "./vocabulary.json" with { type: "json" };
import { isTelling, termOf } from "./words.ts";

/** A word of a query, or a phrase that stands for one, as it is indexed. */
export type QueryWord = {
  readonly term: string;
  /** As it is written, or as the phrase means it. */
  readonly form: string;
  /** Terms that mean about the same. */
  readonly synonyms: readonly string[];
};

const synonyms = collectSynonyms(vocabulary.synonyms);

/** The words of a read query that say what is wanted, each once, in order. */
export function tellingWordsOf(words: readonly string[]): QueryWord[] {
  const forms = new Map<string, string>();
  for (const word of words) if (isTelling(word)) forms.set(termOf(word), word);
  return [...forms].map(([term, form]) => ({ term, form, synonyms: [...(synonyms.get(term) ?? [])] }));
}

function collectSynonyms(groups: readonly (readonly string[])[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const group of groups) {
    const terms = group.map(termOf);
    for (const term of terms) {
      const others = found.get(term) ?? new Set<string>();
      for (const other of terms) if (other !== term) others.add(other);
      found.set(term, others);
    }
  }
  return found;
}
