import type { Nearness } from "./fuse.ts";
import type { Meaning } from "./meanings.ts";
import { phrasePreference } from "./prefer.ts";
import { matchedWords, type ScoredTool } from "./score-tools.ts";
import type { SearchedTool } from "./toolkit-index.ts";
import { fitsOf, type VerbClasses } from "./verb-classes.ts";
import type { IndexedTool, ViewIndex } from "./view-index.ts";
import { termsOf } from "./words.ts";

/** How probable it is that the found tools include the right tool. */
export type Confidence = "high" | "medium" | "low";

/**
 * Minimum share of the query that the best tool must contain, for each confidence. If the share is below the minimum for `low`, no tool
 * fits.
 */
type Shares = Readonly<Record<Confidence, number>>;

/** Shares for a catalog in which all tools have example phrases. No text of bench/search/nonsense.json reaches `high`. */
const said: Shares = { high: 0.65, medium: 0.35, low: 0.2 };
/** Shares for a catalog without example phrases. In such a catalog, a word that no tool contains means little. */
const unsaid: Shares = { high: 0.65, medium: 0.33, low: 0.1 };

/** Returns the confidence if the best tool contains the given share of the query; undefined if no tool fits. */
export function confidenceOf(share: number, saidShare: number): Confidence | undefined {
  const least = (confidence: Confidence) => unsaid[confidence] + (said[confidence] - unsaid[confidence]) * saidShare;
  if (share >= least("high")) return "high";
  if (share >= least("medium")) return "medium";
  return share >= least("low") ? "low" : undefined;
}

/**
 * Minimum score of the first tool for each confidence. The score is measured in multiples of the weight of the rarest word. Below the
 * minimum, the tool may match by chance.
 */
type Fits = Readonly<Record<Exclude<Confidence, "low">, number>>;

/**
 * Minimum scores for a tool whose toolkit has example phrases. They were chosen with 800 requests for which a tool exists and 160 everyday
 * requests for which none exists. Of the 160, 4 of 5 score below `medium` and 1 of 50 reaches `high`.
 */
const saidFits: Fits = { high: 16.6, medium: 9.8 };
/** Minimum scores for a tool whose toolkit has no example phrases. They are lower, because such a tool contains fewer words. */
const unsaidFits: Fits = { high: 12, medium: 6 };

/** Returns the confidence in a tool by its score. */
function confidenceOfFit(fit: number, isSaid: boolean): Confidence {
  const least = isSaid ? saidFits : unsaidFits;
  if (fit >= least.high) return "high";
  return fit >= least.medium ? "medium" : "low";
}

const order: readonly Confidence[] = ["low", "medium", "high"];

/** Returns the lower of two confidences. */
function lowerOf(a: Confidence, b: Confidence): Confidence {
  return order.indexOf(a) < order.indexOf(b) ? a : b;
}

/** A matching tool. */
export type FoundTool = {
  readonly tool: SearchedTool;
  /** Quality of the match, comparable within one answer only. */
  readonly score: number;
  readonly confidence: Confidence;
  /** Words of the query that the tool contains, in their indexed form. */
  readonly matchedTerms: readonly string[];
};

/**
 * The matching tools, best first; tools with equal scores are ordered by slug. `confidence`: confidence in the first tool; undefined if
 * there are no tools.
 */
export type FoundTools = { readonly confidence: Confidence | undefined; readonly results: readonly FoundTool[] };

/** The facts that determine the confidence. */
type Grounds = {
  /** Share of the query that the best tool contains. */
  readonly share: number;
  readonly view: ViewIndex;
  /**
   * Returns the share of its score that a tool keeps; it is less than 1 if the tool cannot be called now. This share must not lower the
   * confidence, so it is divided out again.
   */
  shareOf(found: IndexedTool): number;
  readonly known: readonly Meaning[];
  /** Weight of all words of the query, including words that no tool contains. */
  readonly worthOfAll: number;
  readonly nearness: Nearness | undefined;
  /** True if the query names a toolkit. Its best tools are then listed even if they match badly. False if it names none. */
  readonly isToolkitNamed: boolean;
};

/** Answer of a search that found no tools. */
export const noneFound: FoundTools = { confidence: undefined, results: [] };

/** If the second tool has more than this share of the first tool's score, the second may be the right one. The confidence is then lower. */
const tieShare = 0.9;
/** Maximum number of tools in an answer if the best tool contains little of the query. */
const lowMax = 3;

/** Returns the listed tools with their confidence. Tools with a score far below the first get a lower confidence. */
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
  // True if the first tool is more similar to the query than all meaningless texts are.
  const isNear = nearness !== undefined && (nearness.of(first) ?? -1) > nearness.floor;
  if (isNear && byWords !== "high") return "medium";
  return byWords ?? (isToolkitNamed ? "low" : undefined);
}

/**
 * Returns how well the first tool fits the query. It is the tool's score without the influence of data words, of unavailable accounts, and
 * with a reduction for words that no tool contains.
 */
function fitOf(first: ScoredTool, { view, shareOf, known, worthOfAll }: Grounds): number {
  const plain = known.filter(({ isData }) => !isData);
  const likeness = phrasePreference(plain)(first).score / phrasePreference(known)(first).score;
  const knownShare = plain.reduce((sum, { worth }) => sum + worth, 0) / worthOfAll;
  return (first.score * likeness * knownShare) / (shareOf(first) || 1) / view.rarestWorth;
}

/** True if the second tool fits about as well as the first, so that the first may be wrong. False if the first is clearly better. */
function isTied([first, second]: readonly ScoredTool[]): boolean {
  return first !== undefined && second !== undefined && second.score > tieShare * first.score;
}

/**
 * True if too few words match. One word can name an action or an object, but not both. Two words are enough only if one text of the tool
 * contains both. False if enough words match.
 */
function isThin({ tool, index, place }: ScoredTool, known: readonly Meaning[]): boolean {
  const telling = known.filter(({ isVague }) => !isVague);
  if (telling.length !== 2) return telling.length < 2;
  const texts = [
    ...index.phrasesOf(place).map(({ places }) => new Set(places.keys())),
    ...[tool.name, tool.description].map((text) => new Set(termsOf(text))),
  ];
  return !texts.some((text) => telling.every(({ terms }) => terms.some(({ term }) => text.has(term))));
}

/**
 * Returns tools that do what the query asks, with any object. Used if the query names a toolkit whose tools contain none of its other
 * words.
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
