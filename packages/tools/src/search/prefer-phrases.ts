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
      most = Math.max(most, likenessOf(phrase, { worths, worthOfAll, best, filled }, most));
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

/**
 * From 0, nothing in common, to 1: the same words, as far as both tell something; 0 for no more than `least`. A phrase has fewer terms than
 * a query has synonyms.
 */
function likenessOf({ places, size }: Phrase, { worths, worthOfAll, best, filled }: Wanted, least: number): number {
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
  let held = 0;
  for (const worth of best) held += worth;
  const share = held / worthOfAll;
  const likeness = share <= least ? 0 : share * Math.sqrt(Math.min(1, countFilled(best, filled) / size));
  best.fill(0);
  return likeness;
}

/** The places of a phrase that meanings fill. A query has few meanings. */
function countFilled(best: Float64Array, filled: Int32Array): number {
  let count = 0;
  for (let at = 0; at < best.length; at++) {
    if ((best[at] ?? 0) > 0 && isFirst(at, best, filled)) count++;
  }
  return count;
}

function isFirst(at: number, best: Float64Array, filled: Int32Array): boolean {
  for (let other = 0; other < at; other++) if ((best[other] ?? 0) > 0 && filled[other] === filled[at]) return false;
  return true;
}
