import type { ScoredTool } from "./score-tools.ts";
import { termsOf } from "./words.ts";

/**
 * Puts the tools first whose name the query is, the toolkit's beside it or not: whoever writes `list events` or `list calendar events` knows
 * what it is called, whatever else people say of other tools in these words.
 */
export function preferNames(ranked: readonly ScoredTool[], query: readonly string[]): ScoredTool[] {
  const asked = new Set(query);
  const most = ranked.reduce((best, { score }) => Math.max(best, score), 0);
  return ranked.map((scored) => (isNamed(scored, asked) ? { ...scored, score: scored.score + most } : scored));
}

/** Whether a query has every word of a tool's name, and no other but its toolkit's. */
function isNamed({ tool, index }: ScoredTool, asked: ReadonlySet<string>): boolean {
  const name = termsOf(tool.name);
  const known = new Set([...name, ...termsOf(index.toolkitSlug)]);
  return name.length > 0 && name.every((term) => asked.has(term)) && [...asked].every((term) => known.has(term));
}
