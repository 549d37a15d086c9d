import { type JsonObject, type JsonValue, valueAt } from "@svc/program";
import type { Change } from "../state/change.ts";
import type { ReadRow, StepEffects } from "./effects.ts";
import { memoryOf, memoryOfText } from "./map-memory.ts";
import { keyOf } from "./row-fields.ts";
import { SetMemory } from "./set-memory.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type PartialCommit, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";
import { addRow, type RunningTotal, runningTotal, type TotalFault, valuesOf } from "./totals.ts";

/** A row for each value of some fields, with values over the rows that have it. Groups are held in memory, rows are not. */
export const groupKind: StepKind<"group"> = {
  needs: "rows",
  set: "ok",
  advance: advanceGroup,
  retried: "anew",
  answer: undefined,
};

type Group = { readonly fields: JsonObject; readonly totals: readonly RunningTotal[] };

/** What a group costs, and each of its values over rows, beside its texts and lists. */
const groupBytes = 192;
const totalBytes = 160;

/** Groups whose rows are made together. */
const groupsAtOnce = 500;

function advanceGroup(at: StepAt<"group">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  return SetMemory.during(at, effects, async (memory) => {
    const { state, step } = at;
    const writer = new SetWriter(at, effects, keep);
    const groups = new Map<string, Group>();
    let looked = 0;
    let fault: TotalFault | undefined;
    const add = adder(at, groups, memory);
    const take = async (rows: readonly ReadRow[]) => {
      looked += rows.length;
      fault = await effects.inTurns(add(rows));
      return fault === undefined;
    };
    const isRead = await eachChunk(state, sourceOf(step), effects, { memory, holds: true, take });
    if (fault !== undefined) return writer.fail({ kind: "fail", stepId: step.id, ...fault });
    if (!isRead) return memory.stop(writer);
    await effects.inTurns(writeGroups(step, [...groups.values()], looked, writer));
    return writer.finish();
  });
}

function adder({ state: { scope }, step }: StepAt<"group">, groups: Map<string, Group>, memory: SetMemory) {
  const paths = step.by.map((name) => [name]);
  return function* add(rows: readonly ReadRow[]): Generator<undefined, TotalFault | undefined> {
    for (const row of rows) {
      const key = keyOf(row.data, paths);
      let group = groups.get(key);
      if (group === undefined) {
        const fields = Object.fromEntries(step.by.map((name) => [name, valueAt(row.data, [name]) ?? null]));
        group = { fields, totals: step.as.map(() => runningTotal()) };
        groups.set(key, group);
        memory.add(groupBytes + memoryOfText(key) + memoryOf(fields) + totalBytes * step.as.length);
      }
      const before = bytesOf(group);
      const fault = addRow(group.totals, step.as, row, scope);
      if (fault !== undefined) return fault;
      // What a text or a list holds are characters of any language.
      memory.add(2 * (bytesOf(group) - before));
      yield;
    }
    return undefined;
  };
}

function bytesOf({ totals }: Group): number {
  let bytes = 0;
  for (const total of totals) bytes += total.bytes;
  return bytes;
}

function* writeGroups(
  { as }: StepAt<"group">["step"],
  groups: readonly Group[],
  looked: number,
  writer: SetWriter,
): Generator<Promise<void> | undefined> {
  let made: JsonObject[] = [];
  let left = looked;
  for (const { fields, totals } of groups) {
    made.push({ ...fields, ...valuesOf(totals, as) });
    yield made.length < groupsAtOnce ? undefined : writer.make(made, left);
    if (made.length < groupsAtOnce) continue;
    made = [];
    left = 0;
  }
  yield writer.make(made, left);
}

/** The first row of a set for each value of some fields. The values met so far are held in memory, long ones as their digests. */
export const distinctKind: StepKind<"distinct"> = {
  needs: "rows",
  set: "ok",
  advance: advanceDistinct,
  retried: "anew",
  answer: undefined,
};

/** What a value costs that was met, beside its text. */
const seenBytes = 48;

function advanceDistinct(at: StepAt<"distinct">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  return SetMemory.during(at, effects, async (memory) => {
    const { state, step } = at;
    const writer = new SetWriter(at, effects, keep);
    const seen = new Set<string>();
    function* firstOf(rows: readonly ReadRow[]) {
      const first: number[] = [];
      for (const { rowNumber, data } of rows) {
        const key = keyOf(data, step.by);
        if (!seen.has(key)) {
          first.push(rowNumber);
          seen.add(key);
          memory.add(seenBytes + memoryOfText(key));
        }
        yield undefined;
      }
      return first;
    }
    const take = async (rows: readonly ReadRow[]) => {
      await writer.choose(await effects.inTurns(firstOf(rows)), rows.length);
      return true;
    };
    const isRead = await eachChunk(state, sourceOf(step), effects, { memory, holds: true, take });
    return isRead ? writer.finish() : memory.stop(writer);
  });
}

/** The items of a list that rows have in a field, as rows of their own. */
export const flattenKind: StepKind<"flatten"> = {
  needs: "rows",
  set: "ok",
  advance: advanceFlatten,
  retried: "anew",
  answer: undefined,
};

function advanceFlatten(at: StepAt<"flatten">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  return SetMemory.during(at, effects, async (memory) => {
    const { state, step } = at;
    const writer = new SetWriter(at, effects, keep);
    let isFull = false;
    const take = async (rows: readonly ReadRow[]) => {
      isFull = await effects.inTurns(flattened(step, rows, writer));
      return !isFull;
    };
    const isRead = await eachChunk(state, sourceOf(step), effects, { memory, holds: false, take });
    if (isFull) return writer.fail({ kind: "limit", stepId: step.id, limit: "rows" });
    return isRead ? writer.finish() : memory.stop(writer);
  });
}

/** Rows that are made before they are stored. */
const rowsAtOnce = 500;

/** Makes a row of each item; true where the set has no room for them. */
function* flattened(
  step: StepAt<"flatten">["step"],
  rows: readonly ReadRow[],
  writer: SetWriter,
): Generator<Promise<void> | undefined, boolean> {
  let made: JsonObject[] = [];
  let looked = 0;
  for (const { data } of rows) {
    looked++;
    const { [step.field]: list, ...others } = data;
    const items: readonly JsonValue[] = Array.isArray(list) ? list : [];
    for (const item of items) {
      if (writer.isFull(made.length + 1)) return true;
      made.push({ ...others, ...keptOf(step, item) });
      if (made.length < rowsAtOnce) continue;
      yield writer.make(made, looked);
      made = [];
      looked = 0;
    }
    yield undefined;
  }
  yield writer.make(made, looked);
  return false;
}

function keptOf({ keep }: StepAt<"flatten">["step"], item: JsonValue): JsonObject {
  return Object.fromEntries(keep.map(([name, path]) => [name, valueAt(item, path) ?? null]));
}
