import { digestFunctions } from "./digests.ts";
import type { CelFunction } from "./function.ts";
import { listFunctions } from "./lists.ts";
import { mathFunctions } from "./math.ts";
import { stringFunctions } from "./strings.ts";

/** The functions of expressions that are added to those of CEL itself. */
export const libraryFunctions: readonly CelFunction[] = [
  ...stringFunctions,
  ...mathFunctions,
  ...listFunctions,
  ...digestFunctions,
];

const byName: ReadonlyMap<string, readonly CelFunction[]> = Map.groupBy(libraryFunctions, ({ name }) => name);

/** Returns all functions with a name, one for each number of arguments. Empty if there are none. */
export function functionsNamed(name: string): readonly CelFunction[] {
  return byName.get(name) ?? [];
}
