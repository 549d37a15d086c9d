import { type JsonObject, valueAt } from "@svc/program";
import type { Change } from "../state/change.ts";
import type { ReadRow, StepEffects } from "./effects.ts";
import { memoryOf, memoryOfText } from "./map-memory.ts";
import { keyOf } from "./row-fields.ts";
import { SetMemory } from "./set-memory.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type PartialCommit, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";
import { addRow, type RunningTotal, runningTotal, type TotalFault, valuesOf } from "./totals.ts";

/**
 * Step kind `group`: makes one row for each combination of values of some fields, and computes values (for example a sum) over the rows
 * with that combination. The groups are held in memory, the rows are not.
 */
export const groupKind: StepKind<"group"> = {
  needs: "rows",
  set: "ok",
  advance: advanceGroup,
  retried: "anew",
  answer: undefined,
};

type Group = { readonly fields: JsonObject; readonly totals: readonly RunningTotal[] };

/**
 * Memory in bytes of one group of rows. The next constant, `totalBytes`, is the memory of each value that is computed over the group. Texts
 * and lists in these values are counted separately.
 */
const groupBytes = 192;

const totalBytes = 160;

/** Number of groups that a `group` step forms before it stores their new rows together. */
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
      // Each character of texts and lists counts as two bytes, which is enough for any language.
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
