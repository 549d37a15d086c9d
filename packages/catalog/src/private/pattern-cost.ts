import type { DefinitionFile } from "../definition-file.ts";
import { patternSize } from "../pattern-size.ts";

/** Instructions of all expressions of a definition together: some tens of milliseconds of compiling at worst. */
const sizeMax = 5_000;

/** The longest expression, in characters. */
const lengthMax = 500;

/**
 * Refuses files whose regular expressions would together take long to compile, before any of them is; equal ones are compiled
 * once. The fault stands in the file that goes beyond the bound.
 */
export function checkPatternCost(files: readonly DefinitionFile[]): void {
  const seen = new Set<string>();
  let total = 0;
  for (const file of files) {
    for (const pattern of patternsOf(file.value)) {
      if (seen.has(pattern)) continue;
      seen.add(pattern);
      total += pattern.length > lengthMax ? sizeMax + 1 : patternSize(pattern);
      if (total > sizeMax) break;
    }
    if (total <= sizeMax) continue;
    const reason = `brings the definition's patterns to more than ${sizeMax} steps, or has one of more than ${lengthMax} characters`;
    file.fault([], reason, "shorten them or their repetitions: x{100} is a hundred steps");
    return;
  }
}

/** Everything that may be compiled as an expression, wherever it stands. */
function* patternsOf(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === "pattern" && typeof child === "string") yield child;
    if (key === "patternProperties" && typeof child === "object" && child !== null) yield* Object.keys(child);
    yield* patternsOf(child);
  }
}
