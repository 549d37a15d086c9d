import { sameTermsOf, termOf, wordsOf } from "./terms.ts";

/** Similarity of a question to the example questions of sections, by the id of the section: 0 (no common word) to 1 (the same words). */
export type Similarity = ReadonlyMap<number, number>;

type Example = { readonly section: number; readonly terms: readonly string[]; readonly worth: number };

/** A word of an example question, the best matching word of the visitor's question, and how well they match (0 to 1). */
type Match = { readonly term: string; readonly asked: string; readonly share: number };

/**
 * How well two different words match, if the same word counts 1. `synonym`: the words mean the same. `beginning`: the asked word is the
 * beginning of the other word.
 */
const shares = { synonym: 0.8, beginning: 0.6 };

/**
 * Returns a function that compares the words of a question with example questions. `examples` has the example questions of each section, by
 * the id of the section. The similarity of a section is that of its most similar example question. A rare word counts more than a common
 * word.
 */
export function matchExamples(
  examples: ReadonlyMap<number, readonly string[]>,
): (asked: ReadonlySet<string>) => Similarity {
  const read = [...examples].flatMap(([section, questions]) =>
    questions.map((question) => ({ section, terms: termsOf(question) })),
  );
  const counts = Map.groupBy(
    read.flatMap(({ terms }) => terms),
    (term) => term,
  );
  const worthOf = (term: string) => Math.log(1 + read.length / (counts.get(term)?.length ?? 1));
  const all: readonly Example[] = read.map((one) => ({ ...one, worth: sumOf(one.terms, worthOf) }));
  return (asked) => {
    const matches = new Map([...counts.keys()].flatMap((term) => matchOf(term, asked)).map((one) => [one.term, one]));
    const askedWorth = sumOf([...asked], worthOf);
    const found = new Map<number, number>();
    for (const { section, terms, worth } of all) {
      const matched = terms.flatMap((term) => matches.get(term) ?? []);
      if (matched.length === 0) continue;
      const answered = new Map(matched.toSorted((a, b) => a.share - b.share).map((one) => [one.asked, one.share]));
      const ofAsked = sumOf([...answered.keys()], (term) => worthOf(term) * (answered.get(term) ?? 0));
      const ofExample = sumOf(matched, ({ term, share }) => worthOf(term) * share);
      found.set(section, Math.max(found.get(section) ?? 0, (ofAsked + ofExample) / (askedWorth + worth)));
    }
    return found;
  };
}

function termsOf(question: string): readonly string[] {
  return [...new Set(wordsOf(question).flatMap((word) => termOf(word) ?? []))];
}

function sumOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + numberOf(item), 0);
}

/**
 * Returns the word of a question that best matches a word of an example question (`term`), as a list with one match. Returns an empty list
 * if none matches.
 */
function matchOf(term: string, asked: ReadonlySet<string>): readonly Match[] {
  const matches = [...asked].map((one) => ({ term, asked: one, share: shareOf(one, term) }));
  return matches
    .filter(({ share }) => share > 0)
    .toSorted((a, b) => b.share - a.share)
    .slice(0, 1);
}

function shareOf(asked: string, term: string): number {
  if (asked === term) return 1;
  if (sameTermsOf(asked).includes(term) || sameTermsOf(term).includes(asked)) return shares.synonym;
  return asked.length > 3 && term.startsWith(asked) ? shares.beginning : 0;
}
