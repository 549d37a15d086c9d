/** How far the right tool can be expected among what was found. */
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
