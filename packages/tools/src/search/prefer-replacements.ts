import type { ScoredTool } from "./score-tools.ts";
import type { ToolkitIndex } from "./toolkit-index.ts";
import type { IndexedTool } from "./view-index.ts";

/** What is left of the score of a tool that its app has deprecated. */
const deprecatedShare = 0.5;

/**
 * Puts a tool that replaces deprecated ones before them: it has the best of their scores, since what people ask for is the same. One that
 * does not pass replaces nothing.
 */
export function preferReplacements(
  ranked: readonly ScoredTool[],
  passes: (found: IndexedTool) => boolean,
): readonly ScoredTool[] {
  const lent = new Map<string, ScoredTool>();
  const own = ranked.map((scored) => {
    const replacement = replacementOf(scored);
    if (replacement === undefined || !passes(replacement)) return scored;
    const { slug } = replacement.tool;
    if (scored.score > (lent.get(slug)?.score ?? 0)) lent.set(slug, { ...replacement, score: scored.score });
    return { ...scored, score: scored.score * deprecatedShare };
  });
  if (lent.size === 0) return ranked;
  const raised = own.map((scored) => {
    const { score = 0 } = lent.get(scored.tool.slug) ?? {};
    lent.delete(scored.tool.slug);
    return score > scored.score ? { ...scored, score } : scored;
  });
  return [...raised, ...lent.values()];
}

function replacementOf({ tool, index }: ScoredTool): IndexedTool | undefined {
  const slug = tool.kind === "action" ? (tool.replacedBy ?? "") : "";
  return slug === "" ? undefined : placed(index, slug);
}

function placed(index: ToolkitIndex, slug: string): IndexedTool | undefined {
  const place = index.tools.findIndex((tool) => tool.slug === slug);
  const tool = index.tools[place];
  return tool === undefined ? undefined : { tool, deeds: index.deeds[place] ?? 0, index, place };
}
