import type { JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import { type JsonObject, type JsonValue, type Step, valueAt } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { ReadRow, StepEffects } from "./effects.ts";
import { isScattered, keyOfRow, OrderedRows, pickFields } from "./row-fields.ts";
import { SetMemory } from "./set-memory.ts";
import { eachChunk } from "./set-source.ts";
import { SetWriter } from "./set-writer.ts";
import { type PartialCommit, type StepAt, type StepKind, sourceOf } from "./step-kind.ts";
import { writeInOrder } from "./write-in-order.ts";

/** A list of the input becomes rows, part by part; they count as rows that were fetched. */
export const takeKind: StepKind<"take"> = {
  needs: "nothing",
  set: "in",
  advance: advanceTake,
  retried: "anew",
  answer: undefined,
};

/** Rows that are committed together. */
const rowsAtOnce = 500;

async function advanceTake(at: StepAt<"take">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  const { state, step, instruction, progress } = at;
  let edits: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const list = valueAt(state.input, step.list) ?? [];
  if (!Array.isArray(list)) {
    const message = `the input has no list at ${step.list.join(".")}`;
    return { edits, next: { kind: "fail", stepId: step.id, code: "ROWS_MISSING", message } };
  }
  const from = progress?.next ?? 0;
  const rows = await effects.inTurns(newItems(step, list));
  if (state.used.rows + rows.length - from > state.loaded.program.limits.rows) {
    return { edits, next: { kind: "limit", stepId: step.id, limit: "rows" } };
  }
  for (let next = from; next < rows.length; next += rowsAtOnce) {
    if (edits.length > 1) {
      const taken = Math.min(next, rows.length);
      await keep([...edits, { kind: "progress", progress: { kind: "take", stepId: step.id, next: taken } }]);
      edits = [];
    }
    edits.push({ kind: "fetched", setId: step.id, rows: rows.slice(next, next + rowsAtOnce) });
  }
  // A set without rows is known to have none.
  if (rows.length === 0) edits.push({ kind: "fetched", setId: step.id, rows: [] });
  const finish: Edit = { kind: "finish", stepId: step.id, state: "completed", to: instruction.next };
  return { edits: [...edits, finish], next: { kind: "on" } };
}

/** The kept fields of each item; of those with the same key the first alone. The same list always gives the same. */
function* newItems({ key, keep }: StepAt<"take">["step"], list: readonly JsonValue[]) {
  const seen = new Set<string>();
  const rows: JsonObject[] = [];
  for (const item of list) {
    const row = pickFields(item, keep);
    const id = key === undefined ? undefined : keyOfRow(row, key);
    if (id === undefined || !seen.has(id)) rows.push(row);
    if (id !== undefined) seen.add(id);
    yield undefined;
  }
  return rows;
}

/** The first rows of a set. */
export const limitKind: StepKind<"limit"> = {
  needs: "rows",
  set: "ok",
  advance: advanceLimit,
  retried: "anew",
  answer: undefined,
};

function advanceLimit(at: StepAt<"limit">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  return SetMemory.during(at, effects, async (memory) => {
    const { state, step } = at;
    const writer = new SetWriter(at, effects, keep);
    let left = step.max;
    const take = async (rows: readonly ReadRow[]) => {
      const first = rows.slice(0, left);
      left -= first.length;
      await writer.choose(
        first.map(({ rowNumber }) => rowNumber),
        first.length,
      );
      return left > 0;
    };
    const part = { ...sourceOf(step), withData: false };
    const isRead = await eachChunk(state, part, effects, { memory, holds: false, take });
    return isRead || left === 0 ? writer.finish() : memory.stop(writer);
  });
}

const depthMax = 8;

/**
 * A value that a schema allows, the simplest there is: what a simulated write answers. The same schema always gives the same. Sensitive
 * texts are others than plain ones: all that is equal to one of them is masked where people read it.
 */
export function sampleOf(schema: JsonSchema, depth = 0, isSensitive = schema["x-sensitive"] === true): JsonValue {
  if ("const" in schema) return schema.const as JsonValue;
  if (Array.isArray(schema.enum)) return (schema.enum[0] ?? null) as JsonValue;
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0] as JsonValue;
  if (schema.default !== undefined) return schema.default as JsonValue;
  const branch = ["oneOf", "anyOf", "allOf"]
    .map((name) => schema[name])
    .find((list) => Array.isArray(list) && list.length > 0);
  if (branch !== undefined && schema.type === undefined) {
    const [first = {}] = branch as JsonSchema[];
    return sampleOf(first, depth + 1, isSensitive || first["x-sensitive"] === true);
  }
  switch (typeOf(schema)) {
    case "object":
      return sampleObject(schema, depth, isSensitive);
    case "array":
      return isObject(schema.items) && Number(schema.minItems ?? 0) > 0 && depth < depthMax
        ? [sampleOf(schema.items, depth + 1, isSensitive || schema.items["x-sensitive"] === true)]
        : [];
    case "string":
      return sampleText(schema, isSensitive);
    case "integer":
    case "number":
      return Number(schema.minimum ?? 0);
    case "boolean":
      return false;
    default:
      return null;
  }
}

function sampleObject(schema: JsonSchema, depth: number, isSensitive: boolean): JsonValue {
  if (!isObject(schema.properties) || depth >= depthMax) return {};
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, child]) => [
      name,
      isObject(child) ? sampleOf(child, depth + 1, isSensitive || child["x-sensitive"] === true) : null,
    ]),
  );
}

function sampleText({ format, minLength }: JsonSchema, isSensitive: boolean): string {
  const word = isSensitive ? "simulated-secret" : "simulated";
  if (format === "date-time") return "2000-01-01T00:00:00Z";
  if (format === "date") return "2000-01-01";
  if (format === "uri") return isSensitive ? `https://${word}.example.com/` : "https://example.com/";
  if (format === "email") return `${word}@example.com`;
  return word.padEnd(Math.min(Number(minLength ?? 0), 256), "-");
}

function typeOf({ type, properties }: JsonSchema): unknown {
  if (Array.isArray(type)) return type.find((name) => name !== "null") ?? "null";
  return type ?? (properties === undefined ? undefined : "object");
}

/** The rows of a set in another order. What they are ordered by is held in memory, and nothing else of them. */
export const sortKind: StepKind<"sort"> = {
  needs: "rows",
  set: "ok",
  advance: advanceSort,
  retried: "anew",
  answer: undefined,
};

/** Of fewer rows whoever reads them opens each block once, wherever they stand. */
const scatteredMin = 2_000;

function advanceSort(at: StepAt<"sort">, effects: StepEffects, keep: PartialCommit): Promise<Change> {
  return SetMemory.during(at, effects, async (memory) => {
    const { state, step } = at;
    const writer = new SetWriter(at, effects, keep);
    const held = new OrderedRows(step.by);
    let bytes = 0;
    function* hold(rows: readonly ReadRow[]) {
      for (const { rowNumber, data } of rows) {
        memory.add(held.add(rowNumber, data));
        yield undefined;
      }
      return true;
    }
    const take = (rows: readonly ReadRow[], chunkBytes: number) => {
      bytes += chunkBytes;
      return effects.inTurns(hold(rows));
    };
    const isRead = await eachChunk(state, sourceOf(step), effects, { memory, holds: true, take });
    if (!isRead) return memory.stop(writer);
    const numbers = await effects.inTurns(held.numbersInOrder());
    if (numbers.length <= scatteredMin || !isReadWhole(state, step.id) || !isScattered(numbers)) {
      await writer.choose(numbers, numbers.length);
      return writer.finish();
    }
    const isWritten = await writeInOrder({ state, numbers, bytes }, effects, { memory, writer });
    return isWritten ? writer.finish() : writer.giveUp();
  });
}

/** Whether a step reads all rows of a set. If none does, as where the first ones are taken alone, they need not stand in its order. */
function isReadWhole({ loaded }: JobState, setId: string): boolean {
  return loaded.flow.instructions.some((at) => at.kind === "step" && readsWhole(at.step, setId));
}

function readsWhole(step: Step, setId: string): boolean {
  if ("right" in step && step.right === setId) return true;
  if (!("source" in step) || step.source !== setId) return false;
  return step.kind !== "limit" || step.max > scatteredMin;
}
