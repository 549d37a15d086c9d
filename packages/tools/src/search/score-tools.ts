import type { KnownTerm, Meaning, Meanings } from "./meanings.ts";
import { scoreByWords } from "./score-words.ts";
import { fitsOf, type VerbClasses } from "./verb-classes.ts";
import type { IndexedTool, ViewIndex } from "./view-index.ts";

/** A tool with its score. */
export type ScoredTool = IndexedTool & { readonly score: number };

/** The tools that fit, and the share of the query that the best of them holds. */
type ScoredTools = { readonly found: readonly ScoredTool[]; readonly share: number };

/**
 * The `count` tools that fit best of those that pass, and up to as many that fit as well as the last, in the order of the view. BM25
 * summed over the fields of a tool, less for words it does not hold, less when it does something else than what is wanted.
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

/** What is left of a tool's score for each tool of its toolkit that is listed before it, and at the least. */
const shareOfNext = 0.98;
const shareMin = 0.9;

/**
 * The best tools, spread over toolkits: a tool's score falls by 2 % for each tool of its toolkit before it, by 10 % at most, so
 * others come forward that fit about as well, and one that fits better by more than 12 % stays ahead. Ties by slug.
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

/** The tools that can be among the first `limit` once scores have fallen: what thousands of others score is not sorted. */
function worthListing(tools: readonly ScoredTool[], limit: number): ScoredTool[] {
  const scores = Float64Array.from(tools, ({ score }) => score).sort();
  const least = (scores.at(-limit) ?? 0) * shareMin;
  return tools.filter(({ score }) => score >= least);
}

function byScore(a: ScoredTool, b: ScoredTool): number {
  return b.score - a.score || (a.tool.slug < b.tool.slug ? -1 : 1);
}
