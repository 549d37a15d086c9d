import { type Environment, secretPrefix } from "./environment.ts";
import { configVariables } from "./variables.ts";

// Of the command line, the benchmark and the tests.
const others = /^SVC_(URL|API_KEY|BENCH.*|TEST.*|CRASH.*)$/;

/** One line that names the SVC_ variables nobody reads, each with the nearest known name; undefined when there are none. */
export function unknownVariablesText(environment: Environment): string | undefined {
  const known: string[] = configVariables.map(({ name }) => name);
  const unknown = environment
    .names()
    .filter((name) => name.startsWith("SVC_") && environment.get(name) !== undefined)
    .filter((name) => !known.includes(name) && !name.startsWith(secretPrefix) && !others.test(name))
    .sort();
  if (unknown.length === 0) return undefined;
  const candidates = [...known, secretPrefix];
  return `unknown variables, which nothing reads: ${unknown.map((name) => `${name} (nearest: ${nearest(name, candidates)})`).join(", ")}`;
}

function nearest(name: string, candidates: readonly string[]): string {
  const ranked = candidates.map((candidate) => ({ candidate, distance: distanceBetween(name, candidate) }));
  const best = ranked.reduce((found, next) => (next.distance < found.distance ? next : found));
  return best.candidate === secretPrefix ? `${secretPrefix}<TOOLKIT>` : best.candidate;
}

/** Levenshtein distance; a prefix that ends in `_` is compared with as much of the name. */
function distanceBetween(name: string, candidate: string): number {
  const left = candidate.endsWith("_") ? name.slice(0, candidate.length) : name;
  let row = Array.from({ length: candidate.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...candidate].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
