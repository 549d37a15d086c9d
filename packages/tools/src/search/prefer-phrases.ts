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
  const filled = new Int32Array(meanings.length);
  return (scored) => {
    let most = 0;
    for (const phrase of scored.index.phrasesOf(scored.place)) {
      most = Math.max(most, likenessOf(phrase, { worths, worthOfAll, best, filled }));
    }
    return { ...scored, score: scored.score * (1 + phraseShare * most) };
  };
}

/** What a query wants; `best` is all 0 between phrases, and `filled` is what place of the phrase each meaning has. */
type Wanted = {
  readonly worths: Worths;
  readonly worthOfAll: number;
  readonly best: Float64Array;
  readonly filled: Int32Array;
};

/** From 0, nothing in common, to 1: the same words, as far as both tell something. A phrase has fewer terms than a query has synonyms. */
function likenessOf({ places, size }: Phrase, { worths, worthOfAll, best, filled }: Wanted): number {
  let isLike = false;
  for (const [term, place] of places) {
    const found = worths.get(term);
    if (found === undefined) continue;
    isLike = true;
    for (const { at, worth } of found) {
      if (worth <= (best[at] ?? 0)) continue;
      best[at] = worth;
      filled[at] = place;
    }
  }
  if (!isLike) return 0;
  const held = best.reduce((sum, worth) => sum + worth, 0);
  const parts = new Set(filled.filter((_, at) => (best[at] ?? 0) > 0));
  best.fill(0);
  return (held / worthOfAll) * Math.sqrt(Math.min(1, parts.size / size));
}
