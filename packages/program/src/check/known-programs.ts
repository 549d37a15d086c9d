import { hash } from "node:crypto";
import { LeastRecentlyUsed } from "@svc/core";
import type { AcceptedProgram } from "./accepted-program.ts";
import type { CheckContext } from "./context.ts";

/** Total characters of the texts whose programs are cached. A program needs about ten times the memory of its text. */
const charactersMax = 4_000_000;
/** Longer texts are rare and would replace many others. */
const longMax = 64_000;

type Kept = { readonly characters: number; readonly known: AcceptedProgram };
type Place = Pick<CheckContext, "view" | "isStored" | "isInputMade">;

let characters = 0;
const kept = new LeastRecentlyUsed<string, Kept>(Number.POSITIVE_INFINITY, (gone) => {
  characters -= gone.characters;
});

/** Returns the cached program of a text that was accepted against the same catalog by the same rules. */
export function findAccepted(programJson: string, place: Place): AcceptedProgram | undefined {
  return programJson.length > longMax ? undefined : kept.get(keyOf(programJson, place))?.known;
}

/** Caches an accepted program and removes the least recently submitted ones. */
export function keepAccepted(programJson: string, place: Place, known: AcceptedProgram): void {
  if (programJson.length > longMax) return;
  characters += programJson.length;
  kept.set(keyOf(programJson, place), { characters: programJson.length, known });
  while (characters > charactersMax && kept.evict());
}

const numbers = new WeakMap<CheckContext["view"], number>();
let views = 0;

/** A project's catalog is a new object when anything in it changes. */
function keyOf(programJson: string, { view, isStored = false, isInputMade = false }: Place): string {
  let number = numbers.get(view);
  if (number === undefined) {
    number = ++views;
    numbers.set(view, number);
  }
  return `${number}/${isStored}/${isInputMade}/${hash("sha256", programJson)}`;
}
