import { type Deeds, fitsOf } from "./deeds.ts";
import type { KnownTerm, Meaning, Meanings } from "./meanings.ts";
import { scoreByWords } from "./score-words.ts";
import type { IndexedTool, ViewIndex } from "./view-index.ts";

/** A tool with its score. */
export type ScoredTool = IndexedTool & { readonly score: number };

/** The tools that fit, and the share of the query that the best of them holds. */
export type ScoredTools = { readonly found: readonly ScoredTool[]; readonly share: number };

/**
 * The `count` tools that fit best of those that pass, and up to as many that fit as well as the last, in the order of the view. BM25
 * summed over the fields of a tool, less for words it does not hold, less when it does something else than what is wanted.
 */
export function scoreTools(
  view: ViewIndex,
  { known, worthOfAll }: Meanings,
  wanted: { readonly demand: Deeds; readonly count: number; shareOf(found: IndexedTool): number },
): ScoredTools {
  const { scores, shown } = scoreByWords(view, known);
  const fits = fitsOf(wanted.demand);
  let most = 0;
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at] ?? 0;
    const indexed = view.tools[at];
    if (score === 0 || indexed === undefined) continue;
    const share = (fits[indexed.deeds] ?? 1) * wanted.shareOf(indexed);
    scores[at] = score * share;
    if (share > 0) most = Math.max(most, shown[at] ?? 0);
  }
  const scoreMin = leastOfBest(scores, wanted.count);
  const found: ScoredTool[] = [];
  let ties = 0;
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at] ?? 0;
    const indexed = view.tools[at];
    if (score === 0 || score < scoreMin || indexed === undefined) continue;
    if (score > scoreMin || ties++ < wanted.count) found.push({ ...indexed, score });
  }
  // What is worth less than 1 is in most tools, and fits none of them.
  return { found, share: most / Math.max(worthOfAll, view.saidShare) };
}

/** The lowest of the `count` highest scores, 0 when there are fewer. A word may be in thousands of tools: they are not sorted. */
function leastOfBest(scores: Float64Array, count: number): number {
  /** Ascending. */
  const best = new Float64Array(count);
  for (const score of scores) {
    if (score <= (best[0] ?? 0)) continue;
    let place = 0;
    for (; place + 1 < count && (best[place + 1] ?? 0) < score; place++) best[place] = best[place + 1] ?? 0;
    best[place] = score;
  }
  return best[0] ?? 0;
}

/** The words of a query that a tool holds, or holds a synonym or spelling of. */
export function matchedWords({ index, place }: ScoredTool, meanings: readonly Meaning[]): string[] {
  const isHeld = ({ term }: KnownTerm) => index.terms.get(term)?.places.includes(place) ?? false;
  return meanings.filter(({ terms }) => terms.some(isHeld)).map(({ word }) => word);
}
