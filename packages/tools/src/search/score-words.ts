import type { KnownTerm, Meaning } from "./meanings.ts";
import type { ViewIndex } from "./view-index.ts";

/**
 * Exponent that says how much a tool's score falls for query words that the tool does not contain. 0: not at all. 1: in proportion to the
 * share of these words.
 */
const coverageExponent = 0.6;
/** Exponent by which a tool's score falls if its whole toolkit (app) lacks words of the query. */
const toolkitExponent = 0.4;

/**
 * Scores of a search, with one number for each tool that the caller may see. `scores`: score of the tool. `shown`: total weight of the
 * query's words that the tool contains. A word that matches only weakly counts in part. A vague (too general) word does not count.
 */
export type WordScores = { readonly scores: Float64Array; readonly shown: Float64Array };

/**
 * Arrays with one number for each tool in an index, reused by all searches in the index. `best`: how well each tool matches the current
 * word of the query. All numbers in `best` are 0 before each word.
 */
type Sheet = WordScores & {
  readonly covered: Float64Array;
  readonly best: Float64Array;
  /** Indexes of the tools that match the current word of the query. */
  readonly raised: Uint32Array;
};

/**
 * Arrays for the computation of scores, for each view (the tools that one caller may see). Searches use the arrays again, because
 * allocating new ones for each search would take longer than the search itself.
 */
const sheets = new WeakMap<ViewIndex, Sheet>();

function clearSheet(view: ViewIndex): Sheet {
  const known = sheets.get(view);
  if (known !== undefined) {
    for (const numbers of [known.scores, known.covered, known.shown]) numbers.fill(0);
    return known;
  }
  const size = view.tools.length;
  const numbers = () => new Float64Array(size);
  const made = {
    scores: numbers(),
    shown: numbers(),
    covered: numbers(),
    best: numbers(),
    raised: new Uint32Array(size),
  };
  sheets.set(view, made);
  return made;
}

/**
 * Returns the score of each tool in the index for the query's words that the tool contains. The arrays are reused: the next search of the
 * same index overwrites them.
 */
export function scoreByWords(view: ViewIndex, meanings: readonly Meaning[]): WordScores {
  const { toolkitOf } = view;
  const sheet = clearSheet(view);
  const { scores, covered, shown, best } = sheet;
  const ofToolkits = new Float64Array(view.toolkits.length);
  const bestOfToolkits = new Float64Array(view.toolkits.length);
  for (const { terms, worth, form, isVague, isData } of meanings) {
    for (const at of raiseToBest(sheet, terms)) {
      const gain = best[at] ?? 0;
      const toolkit = toolkitOf[at] ?? 0;
      scores[at] = (scores[at] ?? 0) + gain;
      const part = Math.min(worth, 3 * gain);
      if (!isData) covered[at] = (covered[at] ?? 0) + part;
      if (!isVague) shown[at] = (shown[at] ?? 0) + part;
      best[at] = 0;
      if (gain > (bestOfToolkits[toolkit] ?? 0)) bestOfToolkits[toolkit] = gain;
    }
    for (let at = 0; at < ofToolkits.length; at++) ofToolkits[at] = (ofToolkits[at] ?? 0) + (bestOfToolkits[at] ?? 0);
    bestOfToolkits.fill(0);
    for (const at of raiseToBest(sheet, form === undefined ? [] : [form])) {
      scores[at] = (scores[at] ?? 0) + (best[at] ?? 0);
      best[at] = 0;
    }
  }
  const worthOfAll = meanings.reduce((sum, { worth, isData }) => sum + (isData ? 0 : worth), 0);
  const most = ofToolkits.reduce((a, b) => Math.max(a, b), 0);
  const fits = ofToolkits.map((score) => (score / most) ** toolkitExponent);
  for (let at = 0; at < scores.length; at++) {
    if (scores[at] === 0) continue;
    const share = ((covered[at] ?? 0) / worthOfAll) ** coverageExponent;
    scores[at] = (scores[at] ?? 0) * share * (fits[toolkitOf[at] ?? 0] ?? 1);
  }
  return { scores, shown };
}

/**
 * Raises the value of each tool in `best` to the highest weight that one of these terms has in the tool. Returns the positions of the tools
 * that had no value before.
 */
function raiseToBest({ best, raised }: Sheet, terms: readonly KnownTerm[]): Uint32Array {
  let count = 0;
  for (const { worth, postings: ofToolkits } of terms) {
    for (const { start, postings } of ofToolkits) {
      const { places, strengths } = postings;
      for (let entry = 0; entry < places.length; entry++) {
        const at = start + (places[entry] ?? 0);
        const gain = worth * (strengths[entry] ?? 0);
        const before = best[at] ?? 0;
        // A value of 0 must not count as raised: the tool would be listed twice, and others would no longer fit in the list.
        if (!(gain > before)) continue;
        if (before === 0) raised[count++] = at;
        best[at] = gain;
      }
    }
  }
  return raised.subarray(0, count);
}
