import { formatValue } from "@svc/core";
import { pointerOf } from "./faults.ts";
import { durationBounds, limitBounds, programStepsMax } from "./limits.ts";
import {
  type Expression,
  type IfStep,
  type Limits,
  type MapStep,
  type PlainStep,
  type Step,
  stepsOf,
  type WaitStep,
} from "./program.ts";
import { readCall } from "./read-call.ts";
import { readReductions } from "./read-reductions.ts";
import { readValue } from "./read-value.ts";
import { type Fields, idForm, isObject, type Node, type ShapeReader } from "./shape.ts";

/** What steps are read with: the limits in force, and where ids of steps go that had to be left out. */
export type StepContext = { readonly limits: Limits; readonly broken: Set<string> };

type Ids = { readonly seen: Map<string, string>; count: number };

/** Reads the list of steps and every list in it. Ids are unique over all of them. */
export function readSteps(node: Node, reader: ShapeReader, context: StepContext): Step[] {
  const ids: Ids = { seen: new Map(), count: 0 };
  const steps = readList(node, reader, context, ids, true);
  if (ids.count > programStepsMax) {
    const message = `has ${ids.count} steps; at most ${programStepsMax} are allowed, those of branches and maps included`;
    reader.faults.add("PROGRAM_TOO_LARGE", node.path, message, "split it into several jobs");
  }
  return steps;
}

const anyCount = { min: 1, max: Number.MAX_SAFE_INTEGER };

function readList(node: Node, reader: ShapeReader, context: StepContext, ids: Ids, mayBranch: boolean): Step[] {
  return (reader.items(node, anyCount) ?? []).flatMap((item) => readStep(item, reader, context, ids, mayBranch) ?? []);
}

/** Every kind of step by the field that tells it, with its other fields: required, then optional. */
const kinds = {
  call: [
    ["id", "call", "entity"],
    ["args", "rows", "retry", "timeout", "undo"],
  ],
  filter: [["id", "filter", "where"], []],
  map: [
    ["id", "map", "do"],
    ["concurrency", "tolerate", "onRows"],
  ],
  reduce: [["id", "reduce", "as"], []],
  judge: [["id", "judge"], ["when"]],
  if: [["id", "if", "then"], ["else"]],
  wait: [["id", "wait"], []],
} as const satisfies Readonly<Record<Step["kind"], readonly [readonly string[], readonly string[]]>>;

function readStep(
  node: Node,
  reader: ShapeReader,
  context: StepContext,
  ids: Ids,
  mayBranch: boolean,
): Step | undefined {
  ids.count++;
  const kind = kindOf(node, reader);
  if (kind === undefined) {
    if (isObject(node.value)) readId({ value: node.value.id, path: [...node.path, "id"] }, reader, context, ids, true);
    return undefined;
  }
  const [required, optional] = kinds[kind];
  const fields = reader.fields(node, required, optional);
  if (fields === undefined) return undefined;
  const id = readId(fields.at("id"), reader, context, ids, false);
  if (kind === "if" && !mayBranch) {
    const hint = "put the condition beside the outer one, or after it as a step of its own";
    reader.faults.add("PROGRAM_MALFORMED", node.path, "is an if inside a branch of another", hint);
  }
  const step = readKind(kind, { fields, id, pointer: pointerOf(node.path) }, reader, context, ids);
  if (step === undefined) context.broken.add(id);
  return step;
}

function kindOf(node: Node, reader: ShapeReader): Step["kind"] | undefined {
  const names = Object.keys(kinds) as Step["kind"][];
  if (!isObject(node.value)) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, `is ${formatValue(node.value)}, not a step`, "write an object");
    return undefined;
  }
  const { value } = node;
  const named = names.filter((name) => Object.hasOwn(value, name));
  if (named.length === 1) return named[0];
  const message =
    named.length === 0 ? "has none of the fields that tell its kind" : `has ${named.join(" and ")} at once`;
  reader.faults.add("PROGRAM_MALFORMED", node.path, message, `give it exactly one of ${names.join(", ")}`);
  return undefined;
}

/** An id that cannot be one is "", which nothing refers to. */
function readId(node: Node, reader: ShapeReader, context: StepContext, ids: Ids, isBroken: boolean): string {
  const id = reader.text(node, idForm);
  if (id === undefined) return "";
  const first = ids.seen.get(id);
  if (first !== undefined) {
    reader.faults.add(
      "PROGRAM_MALFORMED",
      node.path,
      `is ${formatValue(id)}, as ${first} is`,
      "give each step its own id",
    );
  } else ids.seen.set(id, pointerOf(node.path));
  if (isBroken) context.broken.add(id);
  return id;
}

type Base = { readonly fields: Fields; readonly id: string; readonly pointer: string };

function readKind(
  kind: Step["kind"],
  { fields, id, pointer }: Base,
  reader: ShapeReader,
  context: StepContext,
  ids: Ids,
): Step | undefined {
  const base = { id, pointer };
  switch (kind) {
    case "call":
      return readCall({ fields, ...base }, reader);
    case "filter": {
      const source = readName(fields.at("filter"), reader);
      const where = readExpression(fields.at("where"), reader);
      return source === undefined || where === undefined ? undefined : { kind, ...base, source, where };
    }
    case "map":
      return readMap({ fields, ...base }, reader, context, ids);
    case "reduce": {
      const source = readName(fields.at("reduce"), reader);
      const as = readReductions(fields.at("as"), reader);
      return source === undefined ? undefined : { kind, ...base, source, as };
    }
    case "judge": {
      const point = readName(fields.at("judge"), reader);
      const when = fields.has("when") ? readExpression(fields.at("when"), reader) : undefined;
      return point === undefined ? undefined : { kind, ...base, point, when };
    }
    case "if":
      return readIf({ fields, ...base }, reader, context, ids);
    case "wait":
      return readWait({ fields, ...base }, reader, context);
  }
}

function readIf({ fields, id, pointer }: Base, reader: ShapeReader, context: StepContext, ids: Ids): IfStep {
  const condition = readExpression(fields.at("if"), reader) ?? { source: "true", pointer };
  const branch = (name: string): PlainStep[] => {
    const steps = readList(fields.at(name), reader, context, ids, false);
    for (const { id: inner } of stepsOf(steps.filter(({ kind }) => kind === "if"))) context.broken.add(inner);
    return steps.filter((step) => step.kind !== "if");
  };
  return {
    kind: "if",
    id,
    pointer,
    condition,
    whenTrue: branch("then"),
    whenFalse: fields.has("else") ? branch("else") : [],
  };
}

function readWait({ fields, id, pointer }: Base, reader: ShapeReader, { limits }: StepContext): WaitStep | undefined {
  const node = fields.at("wait");
  if (!isObject(node.value)) {
    const forMs = reader.duration(node, durationBounds.wait);
    if (forMs === undefined) return undefined;
    if (forMs > limits.deadlineMs) {
      const hint = "shorten it, or raise limits.deadline";
      reader.faults.add("PROGRAM_LIMIT_INVALID", node.path, "is longer than the deadline of the job", hint);
    }
    return { kind: "wait", id, pointer, wait: { forMs } };
  }
  const until = reader.fields(node, ["until"], [])?.at("until");
  const template = until && readValue(until, reader.faults);
  return template && { kind: "wait", id, pointer, wait: { until: template } };
}

function readMap(
  { fields, id, pointer }: Base,
  reader: ShapeReader,
  context: StepContext,
  ids: Ids,
): MapStep | undefined {
  const { limits } = context;
  const source = readName(fields.at("map"), reader);
  const concurrency = reader.number(fields.at("concurrency"), limitBounds.concurrency) ?? limits.concurrency;
  if (concurrency > limits.concurrency) {
    const message = `is ${concurrency}, above the ${limits.concurrency} of the job`;
    const hint = "lower it, or raise limits.concurrency";
    reader.faults.add("PROGRAM_LIMIT_INVALID", fields.at("concurrency").path, message, hint);
  }
  const calls = (reader.items(fields.at("do"), { min: 1, max: 20 }) ?? []).flatMap((item) => {
    ids.count++;
    const call = reader.fields(item, ["id", "call", "entity"], ["args", "retry", "timeout", "undo"]);
    if (call === undefined) return [];
    const callId = readId(call.at("id"), reader, context, ids, false);
    const read = readCall({ fields: call, id: callId, pointer: pointerOf(item.path) }, reader);
    if (read === undefined) context.broken.add(callId);
    return read ?? [];
  });
  const onRows = fields.has("onRows") ? reader.fields(fields.at("onRows"), [], ["failed", "unknown"]) : undefined;
  const pointOf = (name: string) => onRows && readName(onRows.at(name), reader);
  if (source === undefined) {
    for (const call of calls) context.broken.add(call.id);
    return undefined;
  }
  return {
    kind: "map",
    id,
    pointer,
    source,
    concurrency,
    tolerate: readTolerance(fields.at("tolerate"), reader),
    onRows: { failed: pointOf("failed"), unknown: pointOf("unknown") },
    calls,
  };
}

function readTolerance(node: Node, reader: ShapeReader): MapStep["tolerate"] {
  const fields = node.value === undefined ? undefined : reader.fields(node, [], ["count", "percent"]);
  if (fields === undefined) return { count: 0, percent: 0 };
  if (!fields.has("count") && !fields.has("percent")) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, "names no bound", "add count, percent or both");
  }
  return {
    count: reader.number(fields.at("count"), { min: 0, max: limitBounds.rows.max }) ?? limitBounds.rows.max,
    percent: reader.number(fields.at("percent"), { min: 0, max: 100, isWhole: false }) ?? 100,
  };
}

/** The name of a set or point; whether it is one is checked later. */
function readName(node: Node, reader: ShapeReader): string | undefined {
  return reader.text(node, idForm);
}

/** What is wrong with it beyond its form is checked later. */
function readExpression(node: Node, reader: ShapeReader): Expression | undefined {
  const source = reader.text(node, { max: Number.MAX_SAFE_INTEGER, hint: "write a CEL expression" });
  return source === undefined ? undefined : { source, pointer: pointerOf(node.path) };
}
