import type { Meaning } from "./meanings.ts";
import type { Phrase } from "./phrases.ts";
import type { ScoredTool } from "./score-tools.ts";
import type { SearchedTool, ToolkitIndex } from "./toolkit-index.ts";
import type { IndexedTool } from "./view-index.ts";
import { termsOf } from "./words.ts";

/**
 * Words of a tool's name, as terms of the search index. `name`: the terms of the name itself. `known`: these terms and those of the app's
 * name.
 */
type NamedTool = { readonly name: readonly string[]; readonly known: ReadonlySet<string> };

const named = new WeakMap<SearchedTool, NamedTool>();

/**
 * Returns the tools in their order, except that a tool comes first if the query is exactly its name. The query may also contain the app's
 * name: `list events` or `list calendar events`. A caller who writes that means this tool, even if other tools use the same words.
 */
export function preferNames(ranked: readonly ScoredTool[], query: readonly string[]): ScoredTool[] {
  const asked = new Set(query);
  const most = ranked.reduce((best, { score }) => Math.max(best, score), 0);
  return ranked.map((scored) => (isNamed(scored, asked) ? { ...scored, score: scored.score + most } : scored));
}

/**
 * True if the query consists of all words of a tool's name, with or without words of the app's name. False if a word is missing or another
 * word is added.
 */
function isNamed({ tool }: ScoredTool, asked: ReadonlySet<string>): boolean {
  const { name, known } = namedBy(tool);
  return name.length > 0 && name.every((term) => asked.has(term)) && [...asked].every((term) => known.has(term));
}

function namedBy(tool: SearchedTool): NamedTool {
  const found = named.get(tool);
  if (found !== undefined) return found;
  const name = termsOf(tool.name);
  const made = { name, known: new Set([...name, ...termsOf(tool.toolkitSlug)]) };
  named.set(tool, made);
  return made;
}

/**
 * Maximum increase of a tool's score by an example phrase: 1.5 times the score. It applies if the phrase has the same words as the query.
 */
const phraseShare = 1.5;
/** Share of a phrase's increase that the title of a program gives to each tool that the program calls. */
const titleShare = 0.5;

/**
 * For each term of a tool, the words of the query that match this term. `at`: position of the word in the query. `worth`: weight of the
 * match.
 */
type Worths = ReadonlyMap<string, readonly { readonly at: number; readonly worth: number }[]>;

/**
 * Returns a function that raises a tool's score by the tool's example phrase that is most similar to the query. Words that occur together
 * in a phrase are a better sign than single words.
 */
export function phrasePreference(meanings: readonly Meaning[]): (scored: ScoredTool) => ScoredTool {
  const worthOfAll = meanings.reduce((sum, { worth }) => sum + worth, 0);
  const entries = meanings.flatMap(({ terms }, at) => terms.map(({ term, worth }) => ({ term, at, worth })));
  const worths: Worths = Map.groupBy(entries, ({ term }) => term);
  const best = new Float64Array(meanings.length);
  const filled = new Int32Array(meanings.length);
  return (scored) => {
    let most = 0;
    const query = { worths, worthOfAll, best, filled };
    for (const phrase of scored.index.phrasesOf(scored.place)) {
      most = Math.max(most, likenessOf(phrase, query, most));
    }
    for (const title of scored.titles ?? []) {
      most = Math.max(most, titleShare * likenessOf(title, query, most / titleShare));
    }
    return { ...scored, score: scored.score * (1 + phraseShare * most) };
  };
}

/**
 * Working memory for comparing the example phrases of a tool with a query, one phrase after another. Both arrays have one item for each
 * word of the query.
 * - `best`: the highest weight with which this word matches a word of the current phrase. It is reset to 0 before each phrase.
 * - `filled`: the position in the phrase of the word that is matched with that weight.
 */
type QueryWorths = {
  readonly worths: Worths;
  readonly worthOfAll: number;
  readonly best: Float64Array;
  readonly filled: Int32Array;
};

/**
 * Returns how similar an example phrase is to the query: from 0 (no common word) to 1 (the same significant words). Returns 0 if the
 * similarity is not above `least`. The loop runs over the words of the phrase, because the query with its synonyms has more terms.
 */
function likenessOf(
  { places, size }: Phrase,
  { worths, worthOfAll, best, filled }: QueryWorths,
  least: number,
): number {
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

/**
 * Returns how many words of an example phrase are matched by words of the query. A word of the phrase that several query words match counts
 * once.
 */
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

/**
 * Share of its score that a deprecated tool keeps in a search, so that its replacement comes before it. Other tools keep the whole score.
 */
const deprecatedShare = 0.5;

/**
 * Returns the tools with changed scores. Users ask for a deprecated tool and for its replacement with the same words. Therefore the
 * replacement gets the deprecated tool's score if that is better, and the deprecated tool keeps only a share of its score. If the search's
 * filters exclude the replacement, no score changes.
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
  return tool === undefined ? undefined : { tool, verbClasses: index.verbClasses[place] ?? 0, index, place };
}
