import { type JsonObject, type JsonValue, valueAt } from "@svc/program";
import type { Change } from "../state/change.ts";
import type { ReadRow, StepEffects } from "./effects.ts";
import { JoinTypes } from "./join-types.ts";
import { memoryOf, memoryOfText } from "./memory-of.ts";
import { matchOf } from "./row-fields.ts";
import { SetMemory } from "./set-memory.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type Keep, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";

/** Rows of two sets that are alike in some fields. What is kept of the right rows is held in memory, the left ones pass by. */
export const joinKind: StepKind<"join"> = {
  needs: "rows",
  set: "ok",
  advance: advanceJoin,
  retried: "anew",
  answer: undefined,
};

type JoinStep = StepAt<"join">["step"];

/** What is kept of the right rows, in the order of `keep`, by what they are alike in. */
type Rights = ReadonlyMap<string, readonly (readonly JsonValue[])[]>;

function advanceJoin(at: StepAt<"join">, effects: StepEffects, keep: Keep): Promise<Change> {
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

/** What a value costs that right rows are alike in, and each of these rows, beside what is kept of it. */
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

/** The fields of the left rows that are to be like those of the right ones. */
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

/** Pairs that are made before they are stored. */
const pairsAtOnce = 500;

/** Makes a row of each pair; true where the set has no room for them. */
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
