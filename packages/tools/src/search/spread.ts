import type { ScoredTool } from "./score-tools.ts";

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
