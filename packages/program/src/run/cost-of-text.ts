import { patternSteps } from "@svc/catalog/patterns";
import { stepsOf } from "./meter.ts";

/** Steps of searching a text of a length for one of another: at worst it is compared at every place. */
export function containsSteps(text: number, sought: number): number {
  return text * (1 + sought) * stepsOf.character;
}

/** Steps of a pattern over a text of a length. */
export function matchesSteps(pattern: string, text: number): number {
  return patternSteps(pattern) * (text + 1) * stepsOf.pattern;
}
