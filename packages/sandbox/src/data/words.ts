/**
 * Cache of names that are already split, because the same field names repeat in every object. It has room for all names of the catalog. It
 * is cleared when it is full.
 */
const known = new Map<string, readonly string[]>();
const knownMax = 20_000;

/**
 * Returns the words of a name in lower case. The name may be in camel, snake or kebab case: `taskID` and `task_id` both give `task`, `id`.
 */
export function wordsOf(name: string): readonly string[] {
  const found = known.get(name);
  if (found !== undefined) return found;
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  if (known.size >= knownMax) known.clear();
  if (name.length <= 100) known.set(name, words);
  return words;
}

/** Returns a name in lower case without separators, so that `team_id` and `teamId` give the same name. */
export function plainName(name: string): string {
  return wordsOf(name).join("");
}

/** Returns the singular of an English plural. Any other word is returned unchanged. */
export function singularOf(word: string): string {
  if (/(?:ss|us|is|alias|canvas|series|news)$/.test(word)) return word;
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:sses|xes|ches|shes|uses|aliases|canvases)$/.test(word)) return word.slice(0, -2);
  return word.endsWith("s") ? word.slice(0, -1) : word;
}
