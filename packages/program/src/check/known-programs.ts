import { hash } from "node:crypto";
import type { Action, JsonSchema } from "@svc/catalog";
import { LeastRecentlyUsed } from "@svc/core";
import type { ProgramEstimate } from "../estimate.ts";
import type { PinnedSkills, Pins } from "../pins.ts";
import type { Program } from "../program.ts";
import type { Use } from "../steps/use.ts";
import type { AccountQuestion, CheckContext } from "./context.ts";
import type { CheckedSkill } from "./skills.ts";

/** A program that can be run as it is. */
export type AcceptedProgram = {
  readonly program: Program;
  readonly programHash: string;
  readonly estimate: ProgramEstimate;
  readonly pins: Pins;
  readonly skillPins: PinnedSkills;
  /** The skills that it runs, by the names that it has for them. */
  readonly skills: ReadonlyMap<string, CheckedSkill>;
  /** How deep skills stand in it; 0 where it runs none. */
  readonly depth: number;
  /** Whether a skill in it makes its plan need approval. */
  readonly demandsApproval: boolean;
  /** What it uses where no row and no repetition decides. */
  readonly fixedUse: Use;
  /** The type of its declared result, as who runs it as a skill sees it. */
  readonly resultType: JsonSchema;
  /** The tools by which it, and what it runs, may be undone. */
  readonly undoTools: readonly Action[];
  /** What has to be asked each time that it is accepted, of the skills in it too. */
  readonly questions: readonly AccountQuestion[];
  readonly principals: readonly string[];
};

/** Characters of the texts whose programs are kept, in all: what is made of a text is some ten times as large. */
const charactersMax = 4_000_000;
/** Longer ones are rare, and would take the place of many. */
const longMax = 64_000;

type Kept = { readonly characters: number; readonly known: AcceptedProgram };
type Place = Pick<CheckContext, "view" | "isStored">;

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
function keyOf(programJson: string, { view, isStored = false }: Place): string {
  let number = numbers.get(view);
  if (number === undefined) {
    number = ++views;
    numbers.set(view, number);
  }
  return `${number}/${isStored}/${hash("sha256", programJson)}`;
}
