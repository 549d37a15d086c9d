import { type Deeds, fitsOf } from "./deeds.ts";
import type { KnownTerm, Meaning } from "./meanings.ts";
import type { IndexedTool, ViewIndex } from "./view-index.ts";

/** A tool with its score. */
export type ScoredTool = IndexedTool & { readonly score: number };

/** How much a tool loses for words of the query that it does not hold: 0 nothing, 1 their share of the query. */
const coverageExponent = 0.3;
/** What an intent adds to a score, as a share of it, when it says all that the query says and no more. */
const intentShare = 0.6;

/**
 * The `count` tools that fit best of those that pass, and up to as many that fit as well as the last, in the order of the view: BM25
 * summed over the fields of a tool, less for words it does not hold, less when it does something else than what is wanted.
 */
export function scoreTools(
  view: ViewIndex,
  meanings: readonly Meaning[],
  wanted: { readonly demand: Deeds; readonly count: number; passes(found: IndexedTool): boolean },
): ScoredTool[] {
  const scores = scoreByWords(view, meanings);
  const fits = fitsOf(wanted.demand);
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at] ?? 0;
    const indexed = view.tools[at];
    if (score > 0 && indexed !== undefined)
      scores[at] = wanted.passes(indexed) ? score * (fits[indexed.deeds] ?? 1) : 0;
  }
  const least = leastOfBest(scores, wanted.count);
  const found: ScoredTool[] = [];
  let ties = 0;
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at] ?? 0;
    const indexed = view.tools[at];
    if (score === 0 || score < least || indexed === undefined) continue;
    if (score > least || ties++ < wanted.count) found.push({ ...indexed, score });
  }
  return found;
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

/** What each tool gets for the words it holds; 0 for none of them. */
function scoreByWords(view: ViewIndex, meanings: readonly Meaning[]): Float64Array {
  const scores = new Float64Array(view.tools.length);
  const covered = new Float64Array(view.tools.length);
  const best = new Float64Array(view.tools.length);
  for (const { terms, worth, form } of meanings) {
    for (const at of raiseToBest(best, terms)) {
      scores[at] = (scores[at] ?? 0) + (best[at] ?? 0);
      covered[at] = (covered[at] ?? 0) + worth;
      best[at] = 0;
    }
    for (const at of form === undefined ? [] : raiseToBest(best, [form])) {
      scores[at] = (scores[at] ?? 0) + (best[at] ?? 0);
      best[at] = 0;
    }
  }
  const worthOfAll = sumOf(meanings.map(({ worth }) => worth));
  return scores.map((score, at) => (score === 0 ? 0 : score * ((covered[at] ?? 0) / worthOfAll) ** coverageExponent));
}

/** Raises each tool that holds one of the terms to what it gets for the best of them. Returns the tools raised from 0. */
function raiseToBest(best: Float64Array, terms: readonly KnownTerm[]): number[] {
  const raised: number[] = [];
  for (const { worth, postings: ofToolkits } of terms) {
    for (const { start, postings } of ofToolkits) {
      const { places, strengths } = postings;
      for (let entry = 0; entry < places.length; entry++) {
        const at = start + (places[entry] ?? 0);
        const gain = worth * (strengths[entry] ?? 0);
        const before = best[at] ?? 0;
        if (before === 0) raised.push(at);
        if (gain > before) best[at] = gain;
      }
    }
  }
  return raised;
}

/** Raises the score of a tool by its intent that is most like the query: words that stand together mean more. */
export function preferIntents(scored: ScoredTool, meanings: readonly Meaning[]): ScoredTool {
  const likenesses = scored.index.intentsOf(scored.place).map((intent) => likenessOf(intent, meanings));
  return { ...scored, score: scored.score * (1 + intentShare * Math.max(0, ...likenesses)) };
}

/** From 0, nothing in common, to 1: the same words, as far as both tell something. */
function likenessOf(intent: ReadonlySet<string>, meanings: readonly Meaning[]): number {
  const held = meanings.map(({ terms }) => {
    return Math.max(0, ...terms.map(({ term, worth }) => (intent.has(term) ? worth : 0)));
  });
  const heldCount = held.filter((worth) => worth > 0).length;
  if (heldCount === 0) return 0;
  const shareOfQuery = sumOf(held) / sumOf(meanings.map(({ worth }) => worth));
  return shareOfQuery * Math.sqrt(heldCount / intent.size);
}

/** The words of a query that a tool holds, or holds a synonym or spelling of. */
export function matchedWords({ index, place }: ScoredTool, meanings: readonly Meaning[]): string[] {
  const isHeld = ({ term }: KnownTerm) => index.terms.get(term)?.places.includes(place) ?? false;
  return meanings.filter(({ terms }) => terms.some(isHeld)).map(({ word }) => word);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
