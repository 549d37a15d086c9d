import type { Meaning } from "./meanings.ts";
import type { Phrase } from "./phrases.ts";
import type { ScoredTool } from "./score-tools.ts";

/** What a phrase adds to a score, as a share of it, when it says all that the query says and no more. */
const phraseShare = 1.5;

/** Raises the score of a tool by its phrase that is most like the query: words that stand together mean more. */
export function preferPhrases(scored: ScoredTool, meanings: readonly Meaning[]): ScoredTool {
  const worthOfAll = meanings.reduce((sum, { worth }) => sum + worth, 0);
  let most = 0;
  for (const phrase of scored.index.phrasesOf(scored.place)) {
    most = Math.max(most, likenessOf(phrase, meanings, worthOfAll));
  }
  return { ...scored, score: scored.score * (1 + phraseShare * most) };
}

/** From 0, nothing in common, to 1: the same words, as far as both tell something. */
function likenessOf({ places, size }: Phrase, meanings: readonly Meaning[], worthOfAll: number): number {
  let held = 0;
  const filled = new Set<number>();
  for (const { terms } of meanings) {
    let best = 0;
    let place: number | undefined;
    for (const { term, worth } of terms) {
      const at = worth > best ? places.get(term) : undefined;
      if (at === undefined) continue;
      best = worth;
      place = at;
    }
    if (place === undefined) continue;
    held += best;
    filled.add(place);
  }
  return filled.size === 0 ? 0 : (held / worthOfAll) * Math.sqrt(Math.min(1, filled.size / size));
}
