import type { Nearness } from "./fuse.ts";
import type { Meaning } from "./meanings.ts";
import { phrasePreference } from "./prefer.ts";
import { matchedWords, type ScoredTool } from "./score-tools.ts";
import type { SearchedTool } from "./toolkit-index.ts";
import { fitsOf, type VerbClasses } from "./verb-classes.ts";
import type { IndexedTool, ViewIndex } from "./view-index.ts";
import { termsOf } from "./words.ts";

/** The expectation that the found tools include the right one. */
export type Confidence = "high" | "medium" | "low";

/** Minimum share of the query that the best tool must hold, for each confidence. Below the last one, nothing fits. */
type Shares = Readonly<Record<Confidence, number>>;

/** For a catalog whose tools all have example phrases. No text of bench/search/nonsense.json reaches high. */
const said: Shares = { high: 0.65, medium: 0.35, low: 0.2 };
/** For a catalog without example phrases. There, a word that no tool holds means little. */
const unsaid: Shares = { high: 0.65, medium: 0.33, low: 0.1 };

/** Returns the confidence in tools if the best one holds that share of the query; undefined if nothing fits. */
export function confidenceOf(share: number, saidShare: number): Confidence | undefined {
  const least = (confidence: Confidence) => unsaid[confidence] + (said[confidence] - unsaid[confidence]) * saidShare;
  if (share >= least("high")) return "high";
  if (share >= least("medium")) return "medium";
  return share >= least("low") ? "low" : undefined;
}

/** Minimum score of a tool, as a multiple of the weight of the rarest word. Few tools reach it by chance. */
type Fits = Readonly<Record<Exclude<Confidence, "low">, number>>;

/**
 * Set on 800 requests that have a tool and 160 everyday requests that have none. Of the latter, 4 of 5 score below medium and 1 of 50
 * reaches high.
 */
const saidFits: Fits = { high: 16.6, medium: 9.8 };
/** For a tool whose toolkit has no example phrases and therefore holds fewer words. */
const unsaidFits: Fits = { high: 12, medium: 6 };

/** Returns the confidence in a tool by its score. */
function confidenceOfFit(fit: number, isSaid: boolean): Confidence {
  const least = isSaid ? saidFits : unsaidFits;
  if (fit >= least.high) return "high";
  return fit >= least.medium ? "medium" : "low";
}

const order: readonly Confidence[] = ["low", "medium", "high"];

/** Returns the lower of two. */
function lowerOf(a: Confidence, b: Confidence): Confidence {
  return order.indexOf(a) < order.indexOf(b) ? a : b;
}

/** A matching tool. */
export type FoundTool = {
  readonly tool: SearchedTool;
  /** Quality of the match, comparable within one answer only. */
  readonly score: number;
  readonly confidence: Confidence;
  /** Matching words of the query, in their indexed form. */
  readonly matchedTerms: readonly string[];
};

/** The matching tools, best first, equal scores by slug. `confidence`: of the first one; undefined if there are none. */
export type FoundTools = { readonly confidence: Confidence | undefined; readonly results: readonly FoundTool[] };

/** The facts that determine the confidence. */
type Grounds = {
  /** The share of the query that the best tool holds. */
  readonly share: number;
  readonly view: ViewIndex;
  /** Factor of a score for tools that cannot be called now. It does not change how well they fit. */
  shareOf(found: IndexedTool): number;
  readonly known: readonly Meaning[];
  /** Weight of the query's words, including words that no tool holds. */
  readonly worthOfAll: number;
  readonly nearness: Nearness | undefined;
  /** True if the query names the toolkit: its best tools are listed even if they fit badly. */
  readonly isToolkitNamed: boolean;
};

/** Answer without tools. */
export const noneFound: FoundTools = { confidence: undefined, results: [] };

/** The share of the first score above which the second tool may as well be right. */
const tieShare = 0.9;
/** Maximum number of tools in an answer whose best tool holds little of the query. */
const lowMax = 3;

/** Returns the listed tools with their confidence. It is lower for tools far below the first. */
export function judge(listed: readonly ScoredTool[], grounds: Grounds): FoundTools {
  const [first] = listed;
  if (first === undefined) return noneFound;
  const fit = fitOf(first, grounds);
  const confidence = confidenceIn(listed, { first, fit }, grounds);
  if (confidence === undefined) return noneFound;
  const isScarce = (confidenceOf(grounds.share, grounds.view.saidShare) ?? "low") === "low";
  const results = listed.slice(0, isScarce ? lowMax : undefined).map((found) => {
    const { tool, score } = found;
    const part = score / (first.score || 1);
    const own = lowerOf(
      confidenceOf(part * grounds.share, grounds.view.saidShare) ?? "low",
      confidenceOfFit(part * fit, found.index.saidCount > 0),
    );
    return {
      tool,
      score,
      confidence: own === "high" || found === first ? confidence : own,
      matchedTerms: matchedWords(found, grounds.known),
    };
  });
  return { confidence, results };
}

function confidenceIn(
  listed: readonly ScoredTool[],
  { first, fit }: { readonly first: ScoredTool; readonly fit: number },
  { share, view, known, nearness, isToolkitNamed }: Grounds,
) {
  const byShare = confidenceOf(share, view.saidShare);
  const byFit = byShare && lowerOf(byShare, confidenceOfFit(fit, first.index.saidCount > 0));
  const isDoubtful = isThin(first, known) || isTied(listed);
  const byWords = byFit === "high" && isDoubtful ? "medium" : byFit;
  // More similar than all meaningless texts.
  const isNear = nearness !== undefined && (nearness.of(first) ?? -1) > nearness.floor;
  if (isNear && byWords !== "high") return "medium";
  return byWords ?? (isToolkitNamed ? "low" : undefined);
}

/**
 * Returns how well the first tool fits, regardless of whether it can be called: its score without the reduction for data, reduced for words
 * that no tool holds.
 */
function fitOf(first: ScoredTool, { view, shareOf, known, worthOfAll }: Grounds): number {
  const plain = known.filter(({ isData }) => !isData);
  const likeness = phrasePreference(plain)(first).score / phrasePreference(known)(first).score;
  const knownShare = plain.reduce((sum, { worth }) => sum + worth, 0) / worthOfAll;
  return (first.score * likeness * knownShare) / (shareOf(first) || 1) / view.rarestWorth;
}

/** True if the second tool fits about as well as the first. */
function isTied([first, second]: readonly ScoredTool[]): boolean {
  return first !== undefined && second !== undefined && second.score > tieShare * first.score;
}

/** One word names an action or an object, never both. Two words name both if the tool has them in one text. */
function isThin({ tool, index, place }: ScoredTool, known: readonly Meaning[]): boolean {
  const telling = known.filter(({ isVague }) => !isVague);
  if (telling.length !== 2) return telling.length < 2;
  const texts = [
    ...index.phrasesOf(place).map(({ places }) => new Set(places.keys())),
    ...[tool.name, tool.description].map((text) => new Set(termsOf(text))),
  ];
  return !texts.some((text) => telling.every(({ terms }) => terms.some(({ term }) => text.has(term))));
}

/** Returns tools that do the requested action with another object, for a toolkit without any word of the query. */
export function plausibleTools(
  view: ViewIndex,
  { demand, shareOf }: { readonly demand: VerbClasses; shareOf(found: IndexedTool): number },
): ScoredTool[] {
  const fits = fitsOf(demand);
  const fitting = view.tools.filter((found) => shareOf(found) > 0);
  const best = fitting.toSorted((a, b) => (fits[b.verbClasses] ?? 1) - (fits[a.verbClasses] ?? 1)).slice(0, lowMax);
  return best.map((found) => ({ ...found, score: 0 }));
}
