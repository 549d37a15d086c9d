import type { ScoredTool } from "./score-tools.ts";
import type { SearchedTool } from "./toolkit-index.ts";
import { termsOf } from "./words.ts";

/** The terms of a tool's name, and those with its toolkit's. */
type Named = { readonly name: readonly string[]; readonly known: ReadonlySet<string> };

const named = new WeakMap<SearchedTool, Named>();

/**
 * Puts the tools first whose name the query is, the toolkit's beside it or not: whoever writes `list events` or `list calendar events` knows
 * what it is called, whatever else people say of other tools in these words.
 */
export function preferNames(ranked: readonly ScoredTool[], query: readonly string[]): ScoredTool[] {
  const asked = new Set(query);
  const most = ranked.reduce((best, { score }) => Math.max(best, score), 0);
  return ranked.map((scored) => (isNamed(scored, asked) ? { ...scored, score: scored.score + most } : scored));
}

/** True if a query has every word of a tool's name, and no other but its toolkit's. */
function isNamed({ tool }: ScoredTool, asked: ReadonlySet<string>): boolean {
  const { name, known } = namedBy(tool);
  return name.length > 0 && name.every((term) => asked.has(term)) && [...asked].every((term) => known.has(term));
}

function namedBy(tool: SearchedTool): Named {
  const found = named.get(tool);
  if (found !== undefined) return found;
  const name = termsOf(tool.name);
  const made = { name, known: new Set([...name, ...termsOf(tool.toolkitSlug)]) };
  named.set(tool, made);
  return made;
}
