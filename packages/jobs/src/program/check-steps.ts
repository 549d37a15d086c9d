import { checkCall } from "./check-call.ts";
import type { Check } from "./check-context.ts";
import { checkExpression } from "./check-expression.ts";
import { checkReferences } from "./check-references.ts";
import { pathOf } from "./faults.ts";
import type { IfStep, JudgeStep, MapStep, Path, Program, ReduceStep, Reference, Step, WaitStep } from "./program.ts";
import { fieldType, typesOf, type ValueType } from "./schema-type.ts";
import { type Ended, findSet, type RowSet, resolveType, type Scope } from "./scope.ts";

/** A place where a point may be asked, and what may be named there. `list` holds the step. */
export type PointUse = {
  readonly point: string;
  readonly at: "judge" | "failed" | "unknown";
  readonly step: JudgeStep | MapStep;
  readonly list: readonly Step[];
  /** The if that the list is a branch of. */
  readonly branchOf: IfStep | undefined;
  readonly scope: Scope;
};

/** Checks every step where it stands. Answers the scope at the end and the places where points are asked. */
export function checkSteps(
  program: Program,
  scope: Scope,
  check: Check,
): { readonly scope: Scope; readonly uses: readonly PointUse[] } {
  const uses: PointUse[] = [];
  const ended = checkList({ list: program.steps, branchOf: undefined, scope }, { program, check, uses });
  return { scope: { ...scope, ended }, uses };
}

type Walk = { readonly program: Program; readonly check: Check; readonly uses: PointUse[] };
type Place = { readonly list: readonly Step[]; readonly branchOf: IfStep | undefined; readonly scope: Scope };

/** Answers what has ended after the list, what had ended before it included. */
function checkList(place: Place, walk: Walk): Map<string, Ended> {
  const ended = new Map(place.scope.ended);
  let maySkip = false;
  for (const step of place.list) {
    const left = checkStep(step, { ...place, scope: { ...place.scope, ended } }, walk);
    // What has no id of its own cannot be named, and its fault is known.
    for (const [id, value] of left) if (id !== "") ended.set(id, maySkip ? { ...value, maySkip } : value);
    const point = step.kind === "judge" ? walk.program.points.get(step.point) : undefined;
    maySkip = point?.continuations.includes("skip") === true;
  }
  return ended;
}

const nothing: Ended = { value: "none", set: undefined, maySkip: false };

/** Checks one step and answers what it leaves behind. */
function checkStep(step: Step, place: Place, walk: Walk): readonly (readonly [string, Ended])[] {
  const { scope } = place;
  const { check } = walk;
  switch (step.kind) {
    case "call": {
      const { output, set } = checkCall(step, scope, check);
      // Rows that could not be read: whether it has a value or a set is not known.
      const isUnknown = step.rows === undefined && check.faults.has(`${step.pointer}/rows`);
      if (isUnknown) return [[step.id, { value: { type: undefined }, set: "any", maySkip: false }]];
      return [[step.id, { value: step.rows === undefined ? { type: output } : "none", set, maySkip: false }]];
    }
    case "filter": {
      const source = checkSource(step.source, step.pointer, "filter", scope, check);
      checkExpression(step.where, { ...scope, row: source }, check.faults);
      return [[step.id, { ...nothing, set: source }]];
    }
    case "map":
      return [[step.id, { ...nothing, set: checkMap(step, place, walk) }]];
    case "reduce":
      return [[step.id, { ...nothing, value: { type: checkReduce(step, scope, check) } }]];
    case "judge":
      if (step.when !== undefined) checkExpression(step.when, scope, check.faults);
      walk.uses.push({ ...place, point: step.point, at: "judge", step });
      return [[step.id, nothing]];
    case "if":
      return [[step.id, nothing], ...checkIf(step, place, walk)];
    case "wait":
      checkWait(step, scope, check);
      return [[step.id, nothing]];
  }
}

/** Finds the set that a filter or map takes its rows from. */
function checkSource(name: string, pointer: string, field: string, scope: Scope, check: Check): RowSet | "any" {
  const found = findSet(scope, name);
  const path = [...pathOf(pointer), field];
  if ("fault" in found) {
    check.faults.add("PROGRAM_REFERENCE_INVALID", path, found.fault, found.hint);
    return "any";
  }
  if (found.set !== "any" && found.set.hasStates && field !== "reduce") {
    const hint = "take the set that the map took, or put the calls into one map";
    check.faults.add("PROGRAM_REFERENCE_INVALID", path, `${name} is a map, whose rows only a reduce takes`, hint);
  }
  return found.set;
}

function checkMap(step: MapStep, place: Place, walk: Walk): RowSet | "any" {
  const { scope } = place;
  const row = checkSource(step.source, step.pointer, "map", scope, walk.check);
  const calls = new Map<string, ValueType>();
  for (const call of step.calls) {
    const { output } = checkCall(call, { ...scope, row, calls: new Map(calls) }, walk.check);
    calls.set(call.id, output);
  }
  const set: RowSet | "any" = row === "any" ? "any" : { fields: row.fields, hasStates: true };
  const after = { ...scope, ended: new Map([...scope.ended, [step.id, { ...nothing, set }] as const]) };
  for (const at of ["failed", "unknown"] as const) {
    const point = step.onRows[at];
    if (point !== undefined) walk.uses.push({ ...place, point, at, step, scope: after });
  }
  return set;
}

function checkReduce(step: ReduceStep, scope: Scope, check: Check): ValueType {
  const source = checkSource(step.source, step.pointer, "reduce", scope, check);
  for (const [name, reduction] of step.as) {
    if (source === "any") continue;
    const fault = faultOfReduction(source, reduction);
    if (fault !== undefined) {
      check.faults.add("PROGRAM_REFERENCE_INVALID", [...pathOf(step.pointer), "as", name], fault.message, fault.hint);
    }
  }
  if (check.faults.has(`${step.pointer}/as`)) return undefined;
  return { type: "object", properties: Object.fromEntries(step.as.map(([name]) => [name, { type: "number" }])) };
}

function faultOfReduction(
  source: RowSet,
  reduction: ReduceStep["as"][number][1],
): { readonly message: string; readonly hint: string } | undefined {
  if (reduction.kind === "count") {
    if (reduction.state === undefined || source.hasStates) return undefined;
    return { message: "counts rows by state, but only rows of a map have one", hint: "write count, or reduce a map" };
  }
  const [field, ...rest] = reduction.field;
  const fields = [...source.fields.keys()].join(", ");
  if (!source.fields.has(String(field)))
    return { message: `rows have no field ${field}`, hint: `keep it, or use ${fields}` };
  let type = source.fields.get(String(field));
  for (const step of rest) {
    const found = fieldType(type, step);
    if ("fault" in found) return { message: `the field ${found.fault}`, hint: "name a field that it has" };
    type = found.type;
  }
  const types = typesOf(type);
  if (types === undefined || types.has("number")) return undefined;
  return { message: `is ${[...types].join(" or ")}, not a number`, hint: "name a field of numbers, or count" };
}

/** What a branch leaves behind may be skipped for everything after the if. */
function checkIf(step: IfStep, { scope }: Place, walk: Walk): (readonly [string, Ended])[] {
  checkExpression(step.condition, scope, walk.check.faults);
  return [step.whenTrue, step.whenFalse].flatMap((list) => {
    const ended = checkList({ list, branchOf: step, scope }, walk);
    return [...ended]
      .filter(([id, value]) => scope.ended.get(id) !== value)
      .map(([id, value]) => [id, { ...value, maySkip: true }] as const);
  });
}

function checkWait({ wait, pointer }: WaitStep, scope: Scope, { faults }: Check): void {
  if (!("until" in wait)) return;
  const path = [...pathOf(pointer), "wait", "until"];
  const { until } = wait;
  checkReferences(until, path, scope, faults);
  if (until.kind === "reference") checkTimeType(until.reference, path, scope, faults);
  if (until.kind === "reference" || until.kind === "text") return;
  const isTime = until.kind === "literal" && typeof until.value === "string" && isTimestamp(until.value);
  if (!isTime)
    faults.add("PROGRAM_MALFORMED", path, "is no time", 'write one such as "2026-05-01T09:00:00Z", or a $ref to one');
}

function checkTimeType(reference: Reference, path: Path, scope: Scope, faults: Check["faults"]): void {
  const found = resolveType(scope, reference);
  const types = "fault" in found ? undefined : typesOf(found.type);
  if (types === undefined || types.has("string")) return;
  const message = `${reference.text}: is ${[...types].join(" or ")}, not a time`;
  faults.add("PROGRAM_REFERENCE_INVALID", path, message, "name a text such as 2026-05-01T09:00:00Z");
}

const timestampPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i;

/** Whether a text is an RFC 3339 timestamp of a time that exists. */
function isTimestamp(text: string): boolean {
  return timestampPattern.test(text) && !Number.isNaN(Date.parse(text));
}
