import type { Meaning } from "./meanings.ts";
import type { Phrase } from "./phrases.ts";
import type { ScoredTool } from "./score-tools.ts";

/** What a phrase adds to a score, as a share of it, when it says all that the query says and no more. */
const phraseShare = 1.5;

/** What a term is worth to each meaning that it stands for, by the place of the meaning. */
type Worths = ReadonlyMap<string, readonly { readonly at: number; readonly worth: number }[]>;

/** Returns what raises the score of a tool by its phrase that is most like the query: words that stand together mean more. */
export function phrasePreference(meanings: readonly Meaning[]): (scored: ScoredTool) => ScoredTool {
  const worthOfAll = meanings.reduce((sum, { worth }) => sum + worth, 0);
  const entries = meanings.flatMap(({ terms }, at) => terms.map(({ term, worth }) => ({ term, at, worth })));
  const worths: Worths = Map.groupBy(entries, ({ term }) => term);
  const best = new Float64Array(meanings.length);
  return (scored) => {
    let most = 0;
    for (const phrase of scored.index.phrasesOf(scored.place)) {
      most = Math.max(most, likenessOf(phrase, { worths, worthOfAll, best }));
    }
    return { ...scored, score: scored.score * (1 + phraseShare * most) };
  };
}

/** From 0, nothing in common, to 1: the same words, as far as both tell something. A phrase has fewer terms than a query has synonyms. */
function likenessOf(
  { places, size }: Phrase,
  { worths, worthOfAll, best }: { readonly worths: Worths; readonly worthOfAll: number; readonly best: Float64Array },
): number {
  const filled = new Map<number, number>();
  for (const [term, place] of places) {
    for (const { at, worth } of worths.get(term) ?? []) {
      if (worth <= (best[at] ?? 0)) continue;
      best[at] = worth;
      filled.set(at, place);
    }
  }
  if (filled.size === 0) return 0;
  const held = best.reduce((sum, worth) => sum + worth, 0);
  best.fill(0);
  return (held / worthOfAll) * Math.sqrt(Math.min(1, new Set(filled.values()).size / size));
}
