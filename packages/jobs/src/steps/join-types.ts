import { isRawJson } from "@svc/core";
import type { JsonObject, JsonValue } from "@svc/program";
import { fieldOf } from "./row-key.ts";
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
      const [ours, theirs] = [this.#left[index] ?? 0, this.#right[index] ?? 0];
      if (ours === 0 || theirs === 0 || (ours & theirs) !== 0) continue;
      const [field, other] = [left.join("."), right.join(".")];
      return `no row can be like another: ${field} of ${step.setId} holds ${wordsOf(ours)}, ${other} of ${step.right} holds ${wordsOf(theirs)}; \`compute\` one of them first, such as "fields": {"${field}": "string(row.${field})"}`;
    }
    return undefined;
  }
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
