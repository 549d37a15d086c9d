import { digestFunctions } from "./digests.ts";
import type { CelFunction } from "./function.ts";
import { listFunctions } from "./lists.ts";
import { mathFunctions } from "./math.ts";
import { stringFunctions } from "./strings.ts";

/** The functions that expressions have beside those of CEL itself. */
export const libraryFunctions: readonly CelFunction[] = [
  ...stringFunctions,
  ...mathFunctions,
  ...listFunctions,
  ...digestFunctions,
];

const byName: ReadonlyMap<string, readonly CelFunction[]> = Map.groupBy(libraryFunctions, ({ name }) => name);

/** The functions of a name, one for each number of arguments; none where there is none. */
export function functionsNamed(name: string): readonly CelFunction[] {
  return byName.get(name) ?? [];
}
