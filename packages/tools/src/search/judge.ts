import type { Nearness } from "./fuse.ts";
import type { Meaning } from "./meanings.ts";
import { phrasePreference } from "./prefer.ts";
import { matchedWords, type ScoredTool } from "./score-tools.ts";
import type { SearchedTool } from "./toolkit-index.ts";
import { fitsOf, type VerbClasses } from "./verb-classes.ts";
import type { IndexedTool, ViewIndex } from "./view-index.ts";
import { termsOf } from "./words.ts";

/** Confidence that the found tools include the right tool. */
export type Confidence = "high" | "medium" | "low";

/**
 * Minimum share of the query that the best tool must contain, for each level of confidence. If the share is below the minimum for `low`, no
 * tool fits.
 */
type Shares = Readonly<Record<Confidence, number>>;

/**
 * Minimum share of a query's words that the best tool must contain, for each level of confidence. The values are for a catalog in which all
 * tools have example phrases. With them, no text of bench/search/nonsense.json reaches `high`.
 */
const said: Shares = { high: 0.65, medium: 0.35, low: 0.2 };
/**
 * Minimum share of a query's words that the best tool must contain, for each level of confidence. For a catalog whose tools have no example
 * phrases.
 */
const unsaid: Shares = { high: 0.65, medium: 0.33, low: 0.1 };

/**
 * Returns how probable it is that the best tool is the right one; undefined if no tool fits. `share`: share of the query that the best tool
 * contains. `saidShare`: share of the catalog's tools that have example phrases.
 */
export function confidenceOf(share: number, saidShare: number): Confidence | undefined {
  const least = (confidence: Confidence) => unsaid[confidence] + (said[confidence] - unsaid[confidence]) * saidShare;
  if (share >= least("high")) return "high";
  if (share >= least("medium")) return "medium";
  return share >= least("low") ? "low" : undefined;
}

/**
 * Minimum search score of the best tool for each level of confidence. A score of 1 means a match of the query's rarest word. Below the
 * minimum, the tool may match by chance.
 */
type Fits = Readonly<Record<Exclude<Confidence, "low">, number>>;

/**
 * Minimum scores for the confidence levels `high` and `medium`, for a tool whose toolkit (app) has example phrases. A lower score means low
 * confidence. The scores were chosen with the requests of calibration.json and bench/search. Of the 66 requests of calibration.json without
 * a tool, 4 in 5 score below `medium` and 2 reach `high`.
 */
const saidFits: Fits = { high: 15, medium: 9.4 };
/**
 * Minimum search scores for a tool whose toolkit (app) has no example phrases. They are lower than for toolkits with example phrases,
 * because there is less text in which a query's words can occur.
 */
const unsaidFits: Fits = { high: 12, medium: 6 };

/**
 * Returns the confidence that a tool fits the query. `fit`: search score of the tool. `isSaid`: true if the tool's toolkit (app) has
 * example phrases. Such tools get higher scores, so they need a higher score for the same confidence.
 */
function confidenceOfFit(fit: number, isSaid: boolean): Confidence {
  const least = isSaid ? saidFits : unsaidFits;
  if (fit >= least.high) return "high";
  return fit >= least.medium ? "medium" : "low";
}

const order: readonly Confidence[] = ["low", "medium", "high"];

/** Returns the lower one of two levels of confidence that a found tool is right. */
function lowerOf(a: Confidence, b: Confidence): Confidence {
  return order.indexOf(a) < order.indexOf(b) ? a : b;
}

/** A tool that matches a query. */
export type FoundTool = {
  readonly tool: SearchedTool;
  /** Score that says how well the tool matches the query. Scores can be compared only within one answer. */
  readonly score: number;
  readonly confidence: Confidence;
  /** Words of the query that the tool contains, in the form in which the search index has them. */
  readonly matchedTerms: readonly string[];
};

/**
 * The matching tools, best first; tools with equal scores are ordered by slug. `confidence`: confidence that the first tool is right;
 * undefined if there are no tools.
 */
export type FoundTools = { readonly confidence: Confidence | undefined; readonly results: readonly FoundTool[] };

/** Values from which svc computes its confidence that the best tool found by a search is the one that the query means. */
type Grounds = {
  /** Share of the query's words, by their weight, that the first tool's texts contain. */
  readonly share: number;
  readonly view: ViewIndex;
  /**
   * Returns the factor by which a tool's score was multiplied. It is below 1 if the tool cannot be called now, for example without an
   * account, and above 1 for a toolkit of the project. How well the tool matches the query does not depend on this. So the score is divided
   * by the factor before the confidence in the match is computed.
   */
  shareOf(found: IndexedTool): number;
  readonly known: readonly Meaning[];
  /** Weight of all words of the query, including words that no tool contains. */
  readonly worthOfAll: number;
  readonly nearness: Nearness | undefined;
  /**
   * True if the query names a toolkit (app). The best tools of this toolkit are then listed even if they match badly. False if it names
   * none.
   */
  readonly isToolkitNamed: boolean;
};

/** Result of a search that found no tools. */
export const noneFound: FoundTools = { confidence: undefined, results: [] };

/**
 * Share of the first tool's score. If the second tool reaches this share, it may be the right one. The confidence in the first tool is then
 * lower.
 */
const tieShare = 0.9;
/** Maximum number of tools that a search returns, if even the best tool contains only a few words of the query. */
const lowMax = 3;

/**
 * Returns the listed tools, each with a confidence (`high`, `medium` or `low`) that it fits the query. If a tool's score is far below the
 * score of the first tool, its confidence is lower. `grounds`: the data from which the confidence is computed.
 */
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
  // True if the first tool is more similar to the query than any text without meaning is to its nearest tool (`floor`).
  const isNear = nearness !== undefined && (nearness.of(first) ?? -1) > nearness.floor;
  if (isNear && byWords !== "high") return "medium";
  return byWords ?? (isToolkitNamed ? "low" : undefined);
}

/** Returns a number that says how well the first tool found fits the query. It is lower if no tool contains some of the query's words. */
function fitOf(first: ScoredTool, { view, shareOf, known, worthOfAll }: Grounds): number {
  // Data in the query (such as ids) and the state of accounts do not change the number.
  const plain = known.filter(({ isData }) => !isData);
  const likeness = phrasePreference(plain)(first).score / phrasePreference(known)(first).score;
  const knownShare = plain.reduce((sum, { worth }) => sum + worth, 0) / worthOfAll;
  return (first.score * likeness * knownShare) / (shareOf(first) || 1) / view.rarestWorth;
}

/**
 * True if the second tool fits the search query about as well as the first, so that the first may be the wrong one. False if the first fits
 * clearly better.
 */
function isTied([first, second]: readonly ScoredTool[]): boolean {
  return first !== undefined && second !== undefined && second.score > tieShare * first.score;
}

/**
 * True if too few words of the query match the tool for a confident result. With one matching word, only the action or only the object
 * fits. Two matching words are enough only if both occur in the same text of the tool (its name, its description or one example phrase).
 */
function isThin({ tool, index, place, titles = [] }: ScoredTool, known: readonly Meaning[]): boolean {
  const telling = known.filter(({ isVague }) => !isVague);
  if (telling.length !== 2) return telling.length < 2;
  const texts = [
    ...[...index.phrasesOf(place), ...titles].map(({ places }) => new Set(places.keys())),
    ...[tool.name, tool.description].map((text) => new Set(termsOf(text))),
  ];
  return !texts.some((text) => telling.every(({ terms }) => terms.some(({ term }) => text.has(term))));
}

/**
 * Returns the tools with the action that the query requests (for example to delete). Their object (for example an issue) is not compared.
 * Used if the query names a toolkit (app), but its other words occur in none of the toolkit's tools.
 */
export function plausibleTools(
  view: ViewIndex,
  { demand, shareOf }: { readonly demand: VerbClasses; shareOf(found: IndexedTool): number },
): ScoredTool[] {
  const fits = fitsOf(demand);
  const fitting = view.tools.filter((found) => shareOf(found) > 0);
  const best = fitting.toSorted((a, b) => (fits[b.verbClasses] ?? 1) - (fits[a.verbClasses] ?? 1)).slice(0, lowMax);
  return best.map((found) => ({ ...found, score: 0 }));
}
