import type { Catalog, Tool } from "@svc/catalog";

/** The usual parameters of BM25, k1 and b. */
const saturation = 1.2;
const lengthShare = 0.75;

/**
 * Creates a search that anyone could use without svc: BM25 over the words of each tool's slug, description, intents and arguments, in lower
 * case. It returns at most 8 matching slugs, best first.
 */
export function plainBm25(catalog: Catalog): (query: string) => string[] {
  const tools = [...catalog.tools.values()].filter(({ callable }) => callable);
  const counts = tools.map((tool) => countOf(wordsOf(textOf(tool))));
  const lengths = counts.map((words) => [...words.values()].reduce((sum, count) => sum + count, 0));
  const usual = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const holders = new Map<string, number>();
  for (const words of counts) for (const word of words.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
  const worthOf = (word: string) => {
    const held = holders.get(word) ?? 0;
    return Math.log(1 + (tools.length - held + 0.5) / (held + 0.5));
  };
  return (query) => {
    const words = [...new Set(wordsOf(query))];
    const scored = tools.map(({ slug }, at) => {
      const slowness = saturation * (1 - lengthShare + (lengthShare * (lengths[at] ?? 0)) / usual);
      const gains = words.map((word) => {
        const count = counts[at]?.get(word) ?? 0;
        return (worthOf(word) * count * (saturation + 1)) / (count + slowness);
      });
      return { slug, score: gains.reduce((sum, gain) => sum + gain, 0) };
    });
    const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
    return found.slice(0, 8).map(({ slug }) => slug);
  };
}

function textOf({ slug, description, intents, inputSchema }: Tool): string {
  return [slug, description, ...intents, JSON.stringify(inputSchema["properties"] ?? {})].join(" ");
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function countOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
