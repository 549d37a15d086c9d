import type { KnownTerm, Meaning, Meanings } from "./meanings.ts";
import { scoreByWords } from "./score-words.ts";
import { fitsOf, type VerbClasses } from "./verb-classes.ts";
import type { IndexedTool, ViewIndex } from "./view-index.ts";

/** A tool and its score for a query. */
export type ScoredTool = IndexedTool & { readonly score: number };

/**
 * The matching tools. `share`: part of the query's words that the best tool contains, from 0 to 1. Rare words have a higher weight in it.
 */
type ScoredTools = { readonly found: readonly ScoredTool[]; readonly share: number };

/**
 * Returns the `count` tools that fit a query best, not sorted. Tools with equal scores can make the result longer. A tool with another
 * action than the query's gets a lower score.
 */
export function scoreTools(
  view: ViewIndex,
  { known, worthOfAll }: Meanings,
  wanted: { readonly demand: VerbClasses; readonly count: number; shareOf(found: IndexedTool): number },
): ScoredTools {
  const { scores, shown } = scoreByWords(view, known);
  const fits = fitsOf(wanted.demand);
  let most = 0;
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at] ?? 0;
    const indexed = view.tools[at];
    if (score === 0 || indexed === undefined) continue;
    const share = (fits[indexed.verbClasses] ?? 1) * wanted.shareOf(indexed);
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
  // The divisor has a minimum. If the query has only very common words, its weight is near 0, and without the minimum the share would be
  // high for any tool.
  return { found, share: most / Math.max(worthOfAll, view.saidShare) };
}

/**
 * Returns the lowest of the `count` highest scores, or 0 if there are fewer scores. It does not sort all scores, because there may be
 * thousands.
 */
function leastOfBest(scores: Float64Array, count: number): number {
  /** The highest scores so far, in ascending order. */
  const best = new Float64Array(count);
  for (const score of scores) {
    if (score <= (best[0] ?? 0)) continue;
    let place = 0;
    for (; place + 1 < count && (best[place + 1] ?? 0) < score; place++) best[place] = best[place + 1] ?? 0;
    best[place] = score;
  }
  return best[0] ?? 0;
}

/** Returns the words of a query that a tool contains: the word itself, a synonym, or a similar spelling. */
export function matchedWords({ index, place, titles = [] }: ScoredTool, meanings: readonly Meaning[]): string[] {
  const isHeld = ({ term }: KnownTerm) =>
    index.terms.get(term)?.places.includes(place) === true || titles.some((title) => title.places.has(term));
  return meanings.filter(({ terms }) => terms.some(isHeld)).map(({ word }) => word);
}

/**
 * Factor for a tool's score. It is applied once for each tool of the same toolkit (app) that is already listed. `shareMin`: minimum share
 * of its score that a tool keeps.
 */
const shareOfNext = 0.98;
const shareMin = 0.9;

/**
 * Returns the best tools, so that they do not all come from one toolkit (app). Each listed tool lowers the scores of its toolkit's other
 * tools by 2 %, at most 10 % in total. So tools of other toolkits that fit about as well move up. Equal scores are ordered by slug.
 */
export function spreadOverToolkits(tools: readonly ScoredTool[], limit: number): ScoredTool[] {
  const ranked = worthListing(tools, limit).sort(byScore);
  const listed = new Map<string, number>();
  const chosen: ScoredTool[] = [];
  while (chosen.length < limit && ranked.length > 0) {
    let next: ScoredTool | undefined;
    for (const item of ranked) {
      const { tool, score } = item;
      if (next !== undefined && score < next.score) break;
      const damped = { ...item, score: score * Math.max(shareOfNext ** (listed.get(tool.toolkitSlug) ?? 0), shareMin) };
      if (next === undefined || byScore(damped, next) < 0) next = damped;
    }
    if (next === undefined) break;
    const { tool } = next;
    chosen.push(next);
    listed.set(tool.toolkitSlug, (listed.get(tool.toolkitSlug) ?? 0) + 1);
    ranked.splice(
      ranked.findIndex((item) => item.tool === tool),
      1,
    );
  }
  return chosen;
}

/** Returns the tools that can be among the first `limit` results. The others, often thousands, then need no sorting. */
function worthListing(tools: readonly ScoredTool[], limit: number): ScoredTool[] {
  const scores = Float64Array.from(tools, ({ score }) => score).sort();
  // A score may still fall by up to 10 %, because other tools of the same toolkit are listed.
  const least = (scores.at(-limit) ?? 0) * shareMin;
  return tools.filter(({ score }) => score >= least);
}

function byScore(a: ScoredTool, b: ScoredTool): number {
  return b.score - a.score || (a.tool.slug < b.tool.slug ? -1 : 1);
}
