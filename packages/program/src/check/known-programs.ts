import { hash } from "node:crypto";
import { LeastRecentlyUsed } from "@svc/core";
import type { AcceptedProgram } from "./accepted-program.ts";
import type { CheckContext } from "./context.ts";

/** Characters of the texts whose programs are kept, in all: what is made of a text is some ten times as large. */
const charactersMax = 4_000_000;
/** Longer ones are rare, and would take the place of many. */
const longMax = 64_000;

type Kept = { readonly characters: number; readonly known: AcceptedProgram };
type Place = Pick<CheckContext, "view" | "isStored" | "isInputMade">;

let characters = 0;
const kept = new LeastRecentlyUsed<string, Kept>(Number.POSITIVE_INFINITY, (gone) => {
  characters -= gone.characters;
});

/** What is known of a text that was accepted against the same view of the catalog, by the same rules. */
export function findAccepted(programJson: string, place: Place): AcceptedProgram | undefined {
  return programJson.length > longMax ? undefined : kept.get(keyOf(programJson, place))?.known;
}

/** Keeps an accepted program; those that were not submitted for longest go. */
export function keepAccepted(programJson: string, place: Place, known: AcceptedProgram): void {
  if (programJson.length > longMax) return;
  characters += programJson.length;
  kept.set(keyOf(programJson, place), { characters: programJson.length, known });
  while (characters > charactersMax && kept.evict());
}

const numbers = new WeakMap<CheckContext["view"], number>();
let views = 0;

/** A view is another object once anything that it shows is another. */
function keyOf(programJson: string, { view, isStored = false, isInputMade = false }: Place): string {
  let number = numbers.get(view);
  if (number === undefined) {
    number = ++views;
    numbers.set(view, number);
  }
  return `${number}/${isStored}/${isInputMade}/${hash("sha256", programJson)}`;
}
