/** The expectation that the right tool is among the found ones. */
export type Confidence = "high" | "medium" | "low";

/** The least share of a query that the best tool holds, for each confidence; below the last, nothing fits. */
type Shares = Readonly<Record<Confidence, number>>;

/** In a catalog whose tools all have sayings. No text without sense of bench/search/nonsense.json is high. */
const said: Shares = { high: 0.65, medium: 0.35, low: 0.2 };
/** In a catalog without sayings: that no tool holds a word says little there. */
const unsaid: Shares = { high: 0.65, medium: 0.33, low: 0.1 };

/** Returns the confidence in tools of which the best holds that share of the query; undefined if nothing fits. */
export function confidenceOf(share: number, saidShare: number): Confidence | undefined {
  const least = (confidence: Confidence) => unsaid[confidence] + (said[confidence] - unsaid[confidence]) * saidShare;
  if (share >= least("high")) return "high";
  if (share >= least("medium")) return "medium";
  return share >= least("low") ? "low" : undefined;
}

/** Minimum score of a tool, as a multiple of the worth of the rarest word. Few tools reach it by chance. */
type Fits = Readonly<Record<Exclude<Confidence, "low">, number>>;

/**
 * Set on 800 requests that have a tool and 160 requests of everyday life that have none. Of the latter, 4 of 5 score below medium and 1 of 50
 * reaches high.
 */
const saidFits: Fits = { high: 16.6, medium: 9.8 };
/** For a tool whose toolkit has no sayings, which holds fewer words. */
const unsaidFits: Fits = { high: 12, medium: 6 };

/** Returns the confidence in a tool by its score. */
export function confidenceOfFit(fit: number, isSaid: boolean): Confidence {
  const least = isSaid ? saidFits : unsaidFits;
  if (fit >= least.high) return "high";
  return fit >= least.medium ? "medium" : "low";
}

const order: readonly Confidence[] = ["low", "medium", "high"];

/** Returns the lower of two. */
export function lowerOf(a: Confidence, b: Confidence): Confidence {
  return order.indexOf(a) < order.indexOf(b) ? a : b;
}
