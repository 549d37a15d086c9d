import { hash } from "node:crypto";
import { LeastRecentlyUsed } from "@svc/core";
import type { AcceptedProgram } from "./accepted-program.ts";
import type { CheckContext } from "./context.ts";

/** Maximum total characters of all program texts in the cache. A cached program needs about ten times the memory of its text. */
const charactersMax = 4_000_000;
/** Maximum characters of a text that is cached. Longer texts are rare and would push many others out of the cache. */
const longMax = 64_000;

type Kept = { readonly characters: number; readonly known: AcceptedProgram };
type Place = Pick<CheckContext, "view" | "isStored" | "isInputMade">;

let characters = 0;
const kept = new LeastRecentlyUsed<string, Kept>(Number.POSITIVE_INFINITY, (gone) => {
  characters -= gone.characters;
});

/** Returns the cached result for a program text that was accepted earlier with the same catalog and the same options, or undefined. */
export function findAccepted(programJson: string, place: Place): AcceptedProgram | undefined {
  return programJson.length > longMax ? undefined : kept.get(keyOf(programJson, place))?.known;
}

/** Adds an accepted program to the cache. If the cache is full, the programs that were not submitted for the longest time are removed. */
export function keepAccepted(programJson: string, place: Place, known: AcceptedProgram): void {
  if (programJson.length > longMax) return;
  characters += programJson.length;
  kept.set(keyOf(programJson, place), { characters: programJson.length, known });
  while (characters > charactersMax && kept.evict());
}

const numbers = new WeakMap<CheckContext["view"], number>();
let views = 0;

/**
 * Returns the key under which the result of a program's check is cached. The catalog is a part of the key: when anything in a project's
 * catalog changes, the project gets a new catalog object.
 */
function keyOf(programJson: string, { view, isStored = false, isInputMade = false }: Place): string {
  let number = numbers.get(view);
  if (number === undefined) {
    number = ++views;
    numbers.set(view, number);
  }
  return `${number}/${isStored}/${isInputMade}/${hash("sha256", programJson)}`;
}
