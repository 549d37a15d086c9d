import { isRawJson } from "@svc/core";
import type { JsonObject, JsonValue } from "@svc/program";
import { fieldOf } from "./row-fields.ts";
import type { StepAt } from "./step-kind.ts";

type On = StepAt<"join">["step"]["on"];

/** The kinds of values that were seen, a bit each: numbers, texts, truths, and lists and objects. */
const bits = { number: 1, text: 2, truth: 4, other: 8 };
const words = ["numbers", "texts", "true or false", "lists or objects"];

/**
 * Which kinds of values the fields have that rows of a join are to be alike in. A 1 is not like a "1": where apps write an id each in
 * their own way nothing would match, and an anti join would take all.
 */
export class JoinTypes {
  readonly #on: On;
  readonly #left: Uint8Array;
  readonly #right: Uint8Array;

  constructor(on: On) {
    this.#on = on;
    this.#left = new Uint8Array(on.length);
    this.#right = new Uint8Array(on.length);
  }

  seeLeft(row: JsonObject): void {
    for (const [index, [left]] of this.#on.entries()) see(this.#left, index, fieldOf(row, left));
  }

  seeRight(row: JsonObject): void {
    for (const [index, [, right]] of this.#on.entries()) see(this.#right, index, fieldOf(row, right));
  }

  /** Why no row can be like another: two fields have values, and none of one kind. Undefined where some may be. */
  fault(step: { readonly setId: string; readonly right: string }): string | undefined {
    for (const [index, [left, right]] of this.#on.entries()) {
      const ours = { set: step.setId, path: left, seen: this.#left[index] ?? 0 };
      const theirs = { set: step.right, path: right, seen: this.#right[index] ?? 0 };
      if (ours.seen === 0 || theirs.seen === 0 || (ours.seen & theirs.seen) !== 0) continue;
      const holds = [ours, theirs].map(({ set, path, seen }) => `${textOf(path)} of ${set} holds ${wordsOf(seen)}`);
      return `no row can be like another: ${holds.join(", ")}; ${adviceOf([ours, theirs])}`;
    }
    return undefined;
  }
}

type Side = { readonly set: string; readonly path: On[number][0]; readonly seen: number };

/** How the fields become alike: what is no text is made one. */
function adviceOf(sides: readonly Side[]): string {
  if (sides.some(({ seen }) => (seen & bits.other) !== 0)) return "name fields that hold numbers or texts";
  const steps = sides
    .filter(({ seen }) => seen !== bits.text)
    .map(({ set, path }) =>
      JSON.stringify({ compute: set, fields: { [nameOf(path)]: `string(row.${textOf(path)})` } }),
    );
  return `make texts of them first by ${steps.join(" and ")}, and join its rows`;
}

/** A path as an expression names it. */
function textOf(path: Side["path"]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}

function nameOf(path: Side["path"]): string {
  return path.findLast((part) => typeof part === "string") ?? "text";
}

function see(seen: Uint8Array, index: number, value: JsonValue | undefined): void {
  if (value === undefined || value === null) return;
  seen[index] = (seen[index] ?? 0) | bitOf(value);
}

function bitOf(value: JsonValue): number {
  if (typeof value === "string") return bits.text;
  if (typeof value === "number" || isRawJson(value)) return bits.number;
  return typeof value === "boolean" ? bits.truth : bits.other;
}

function wordsOf(seen: number): string {
  return words.filter((_, index) => (seen & (1 << index)) !== 0).join(" and ");
}
