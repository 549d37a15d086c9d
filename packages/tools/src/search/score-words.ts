import type { KnownTerm, Meaning } from "./meanings.ts";
import type { ViewIndex } from "./view-index.ts";

/** Reduction of a tool's score for words of the query that it does not hold: 0 none, 1 in proportion to their share. */
const coverageExponent = 0.6;
/** Reduction for words that no tool of its toolkit holds, so that the toolkit is chosen before the tool. */
const toolkitExponent = 0.4;

/**
 * For each tool of a view, its score and how much of the query's weight it clearly holds: a weak word counts partly, a vague one not at
 * all.
 */
export type WordScores = { readonly scores: Float64Array; readonly shown: Float64Array };

/** Reused arrays for the search of a view, one number per tool. `best` is all 0 between words. */
type Sheet = WordScores & {
  readonly covered: Float64Array;
  readonly best: Float64Array;
  /** Positions of tools. */
  readonly raised: Uint32Array;
};

/** Arrays of each view. A search ends before the next starts, and allocating them costs more than the calculation. */
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

/** Returns the score of each tool for the words that it holds. The next search of the view overwrites the arrays. */
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

/** Raises each tool that holds one of the terms to its best weight among them. Returns the tools raised from 0. */
function raiseToBest({ best, raised }: Sheet, terms: readonly KnownTerm[]): Uint32Array {
  let count = 0;
  for (const { worth, postings: ofToolkits } of terms) {
    for (const { start, postings } of ofToolkits) {
      const { places, strengths } = postings;
      for (let entry = 0; entry < places.length; entry++) {
        const at = start + (places[entry] ?? 0);
        const gain = worth * (strengths[entry] ?? 0);
        const before = best[at] ?? 0;
        if (before === 0) raised[count++] = at;
        if (gain > before) best[at] = gain;
      }
    }
  }
  return raised.subarray(0, count);
}
