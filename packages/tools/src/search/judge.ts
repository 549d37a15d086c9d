import { type Confidence, confidenceOf } from "./confidence.ts";
import { type Deeds, fitsOf } from "./deeds.ts";
import type { Nearness } from "./fuse.ts";
import type { Meaning } from "./meanings.ts";
import { matchedWords, type ScoredTool } from "./score-tools.ts";
import type { SearchedTool } from "./toolkit-index.ts";
import type { IndexedTool, ViewIndex } from "./view-index.ts";
import { termsOf } from "./words.ts";

/** A tool that fits. */
export type FoundTool = {
  readonly tool: SearchedTool;
  /** How well it fits, comparable within one answer only. */
  readonly score: number;
  readonly confidence: Confidence;
  /** The words of the query that it was found by, as they are indexed. */
  readonly matchedTerms: readonly string[];
};

/** The tools that fit, best first, those of equal score by slug; of them the confidence of the first, undefined for none. */
export type FoundTools = { readonly confidence: Confidence | undefined; readonly results: readonly FoundTool[] };

/** What says how far to trust what is listed. */
type Grounds = {
  /** The share of the query that the best tool holds. */
  readonly share: number;
  readonly saidShare: number;
  readonly known: readonly Meaning[];
  readonly nearness: Nearness | undefined;
  /** True if the query names the toolkit: what fits best of it is listed, however badly it fits. */
  readonly isToolkitNamed: boolean;
};

/** The answer for no tool. */
export const noneFound: FoundTools = { confidence: undefined, results: [] };

/** Most tools that are answered with low confidence. */
const lowMax = 3;

/** Returns what is listed with how far to trust it: less where a tool is far behind the first. */
export function judge(listed: readonly ScoredTool[], grounds: Grounds): FoundTools {
  const [first] = listed;
  const confidence = first && confidenceIn(first, grounds);
  if (first === undefined || confidence === undefined) return noneFound;
  const results = listed.slice(0, confidence === "low" ? lowMax : undefined).map((found) => {
    const { tool, score } = found;
    const part = score / (first.score || 1);
    const own = confidenceOf(part * grounds.share, grounds.saidShare) ?? "low";
    return {
      tool,
      score,
      confidence: own === "high" || found === first ? confidence : own,
      matchedTerms: matchedWords(found, grounds.known),
    };
  });
  return { confidence, results };
}

function confidenceIn(first: ScoredTool, { share, saidShare, known, nearness, isToolkitNamed }: Grounds) {
  const byShare = confidenceOf(share, saidShare);
  const byWords = byShare === "high" && isThin(first, known) ? "medium" : byShare;
  // Nearer than all without sense.
  const isNear = nearness !== undefined && (nearness.of(first) ?? -1) > nearness.floor;
  if (isNear && byWords !== "high") return "medium";
  return byWords ?? (isToolkitNamed ? "low" : undefined);
}

/** One word says what is done or to what, never both; two say both where the tool has them in one text. */
function isThin({ tool, index, place }: ScoredTool, known: readonly Meaning[]): boolean {
  const telling = known.filter(({ isVague }) => !isVague);
  if (telling.length !== 2) return telling.length < 2;
  const texts = [
    ...index.phrasesOf(place).map(({ places }) => new Set(places.keys())),
    ...[tool.name, tool.description].map((text) => new Set(termsOf(text))),
  ];
  return !texts.some((text) => telling.every(({ terms }) => terms.some(({ term }) => text.has(term))));
}

/** Returns tools that do what is wanted to something else, for a toolkit of which no tool holds a word of the query. */
export function plausibleTools(
  view: ViewIndex,
  { demand, shareOf }: { readonly demand: Deeds; shareOf(found: IndexedTool): number },
): ScoredTool[] {
  const fits = fitsOf(demand);
  const fitting = view.tools.filter((found) => shareOf(found) > 0);
  const best = fitting.toSorted((a, b) => (fits[b.deeds] ?? 1) - (fits[a.deeds] ?? 1)).slice(0, lowMax);
  return best.map((found) => ({ ...found, score: 0 }));
}
