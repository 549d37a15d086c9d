import { isRawJson } from "@svc/core";
import { type JsonObject, type JsonValue, valueAt } from "@svc/program";
import type { Change } from "../state/change.ts";
import type { ReadRow, StepEffects } from "./effects.ts";
import { memoryOf, memoryOfText } from "./map-memory.ts";
import { fieldOf, matchOf } from "./row-fields.ts";
import { SetMemory } from "./set-memory.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type PartialCommit, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";

type On = StepAt<"join">["step"]["on"];

/** One bit for each kind of value in a compared field: number, text, boolean (`truth`), and list or object (`other`). */
const bits = { number: 1, text: 2, truth: 4, other: 8 };
const words = ["numbers", "texts", "true or false", "lists or objects"];

/**
 * Finds out if the compared fields of a join can never be equal because their values have different kinds: for example, the number 1 does
 * not equal the text "1". Without this check, an anti join would silently keep all rows.
 */
class JoinTypes {
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

  /**
   * Checks the fields that a `join` step compares. Returns the reason why no rows can match: one field holds, for example, only numbers and
   * the other only texts. Returns undefined if rows may match.
   */
  fault(step: { readonly setId: string; readonly right: string }): string | undefined {
    for (const [index, [left, right]] of this.#on.entries()) {
      const ours = { set: step.setId, path: left, seen: this.#left[index] ?? 0 };
      const theirs = { set: step.right, path: right, seen: this.#right[index] ?? 0 };
      if (ours.seen === 0 || theirs.seen === 0 || (ours.seen & theirs.seen) !== 0) continue;
      const holds = [ours, theirs].map(({ set, path, seen }) => `${textOf(path)} of ${set} holds ${wordsOf(seen)}`);
      return `no rows can be equal: ${holds.join(", ")}; ${adviceOf([ours, theirs])}`;
    }
    return undefined;
  }
}

type Side = { readonly set: string; readonly path: On[number][0]; readonly seen: number };

/** Returns advice for an author whose `join` step compares fields of different types: convert values that are not texts to text. */
function adviceOf(sides: readonly Side[]): string {
  if (sides.some(({ seen }) => (seen & bits.other) !== 0)) return "name fields that hold numbers or texts";
  const steps = sides
    .filter(({ seen }) => seen !== bits.text)
    .map(({ set, path }) =>
      JSON.stringify({ compute: set, fields: { [nameOf(path)]: `string(row.${textOf(path)})` } }),
    );
  return `convert them to texts first with ${steps.join(" and ")}, and join its rows`;
}

/** Returns the path of a field in the form in which expressions contain it. */
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

/**
 * Runs steps of kind `join`: joins the rows of two sets (lists of rows) whose compared fields are equal. The kept fields of the right rows
 * are held in memory; the left rows are read one after another.
 */
export const joinKind: StepKind<"join"> = {
  needs: "rows",
  set: "ok",
  advance: advanceJoin,
  retried: "anew",
  answer: undefined,
};

type JoinStep = StepAt<"join">["step"];

/**
 * The values that a join keeps from the rows of its second (right) set. The map's key is the text of the values that the join compares.
 * Each inner list has the values of one row, in the order of `keep`.
 */
type Rights = ReadonlyMap<string, readonly (readonly JsonValue[])[]>;

function advanceJoin(at: StepAt<"join">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  return SetMemory.during(at, effects, async (memory) => {
    const { state, step } = at;
    const writer = new SetWriter(at, effects, keep);
    const types = new JoinTypes(step.on);
    const rights = await readRights(at, effects, { memory, types });
    if (rights === undefined) return memory.stop(writer);
    let isFull = false;
    const take = async (rows: readonly ReadRow[]) => {
      if (step.join === "anti")
        await writer.choose(await effects.inTurns(unpaired(step, rows, { rights, types })), rows.length);
      else isFull = await effects.inTurns(pair(step, rows, { rights, types, writer }));
      return !isFull;
    };
    const isRead = await eachChunk(state, sourceOf(step), effects, { memory, holds: false, take });
    if (isFull) return writer.fail({ kind: "limit", stepId: step.id, limit: "rows" });
    if (!isRead) return memory.stop(writer);
    const message = types.fault({ setId: sourceOf(step).setId, right: step.right });
    return message === undefined
      ? writer.finish()
      : writer.fail({ kind: "fail", stepId: step.id, code: "JOIN_UNFIT", message });
  });
}

/**
 * Approximate memory in bytes that a `join` step needs. `keyBytes`: for each distinct combination of compared values. `rightBytes`: for
 * each row of the right side. The memory of the kept fields is added to these.
 */
const keyBytes = 96;
const rightBytes = 96;

async function readRights(
  { state, step }: StepAt<"join">,
  effects: StepEffects,
  { memory, types }: { readonly memory: SetMemory; readonly types: JoinTypes },
): Promise<Rights | undefined> {
  const rights = new Map<string, JsonValue[][]>();
  const by = step.on.map(([, right]) => right);
  function* hold(rows: readonly ReadRow[]) {
    for (const { data } of rows) {
      types.seeRight(data);
      const key = matchOf(data, by);
      const known = key === undefined ? undefined : rights.get(key);
      const kept = step.keep.map(([, path]) => valueAt(data, path) ?? null);
      const isHeld = key !== undefined && (known === undefined || step.join !== "anti");
      if (isHeld && known === undefined) {
        rights.set(key, [kept]);
        memory.add(keyBytes + memoryOfText(key));
      } else if (isHeld) known?.push(kept);
      if (isHeld) memory.add(rightBytes + memoryOf(kept));
      yield undefined;
    }
    return true;
  }
  const take = (rows: readonly ReadRow[]) => effects.inTurns(hold(rows));
  const isRead = await eachChunk(state, { setId: step.right }, effects, { memory, holds: true, take });
  return isRead ? rights : undefined;
}

const noRights: readonly (readonly JsonValue[])[] = [];

/** Returns the fields of the left rows that are compared with the right rows. */
function leftFields({ on }: JoinStep) {
  return on.map(([left]) => left);
}

function rightsOf(row: JsonObject, by: ReturnType<typeof leftFields>, rights: Rights) {
  const key = matchOf(row, by);
  return (key === undefined ? undefined : rights.get(key)) ?? noRights;
}

type Against = { readonly rights: Rights; readonly types: JoinTypes };

function* unpaired(step: JoinStep, rows: readonly ReadRow[], { rights, types }: Against) {
  const found: number[] = [];
  const by = leftFields(step);
  for (const { rowNumber, data } of rows) {
    types.seeLeft(data);
    if (rightsOf(data, by, rights).length === 0) found.push(rowNumber);
    yield undefined;
  }
  return found;
}

const noValues: readonly JsonValue[] = [];

/** Number of pairs (rows made from two matching rows) that are stored together. */
const pairsAtOnce = 500;

/**
 * Makes one row of each pair of matching rows, and stores the new rows in parts. Returns true if it stopped because the set (list) of new
 * rows is full.
 */
function* pair(
  step: JoinStep,
  rows: readonly ReadRow[],
  { rights, types, writer }: Against & { readonly writer: SetWriter },
): Generator<Promise<void> | undefined, boolean> {
  let made: JsonObject[] = [];
  let looked = 0;
  const by = leftFields(step);
  for (const { data } of rows) {
    types.seeLeft(data);
    const found = rightsOf(data, by, rights);
    looked++;
    for (const kept of found.length === 0 && step.join === "left" ? [noValues] : found) {
      if (writer.isFull(made.length + 1)) return true;
      const row: Record<string, JsonValue> = { ...data };
      for (const [index, [name]] of step.keep.entries()) row[name] = kept[index] ?? null;
      made.push(row);
      if (made.length < pairsAtOnce) continue;
      yield writer.make(made, looked);
      made = [];
      looked = 0;
    }
    yield undefined;
  }
  yield writer.make(made, looked);
  return false;
}
