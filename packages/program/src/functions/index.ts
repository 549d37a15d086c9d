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

/** Returns all added functions with a given name, one for each number of arguments. Returns an empty list if none has this name. */
export function functionsNamed(name: string): readonly CelFunction[] {
  return byName.get(name) ?? [];
}
