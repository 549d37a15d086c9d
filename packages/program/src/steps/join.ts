import type { Check } from "../check/context.ts";
import type { Path } from "../json.ts";
import { readName } from "../read/name.ts";
import { parsePath } from "../read/reference.ts";
import type { ShapeNode, ShapeReader } from "../read/shape.ts";
import { typesOf, type ValueType } from "../types/schema-type.ts";
import { nothing, type RowSet, withoutStates } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { checkField, fieldPathSchema, fieldPlace } from "./parts/field.ts";
import { type AddedFields, keepPath, keepSchema, readKeep, withKept } from "./parts/keep.ts";
import { checkSet, checkSource, type RowSource, readSource, sourceOptions, sourceSchema } from "./parts/source.ts";
import { noUse } from "./use.ts";

/**
 * A step of kind `join`: pairs the rows of two sets (lists of rows) whose fields are equal. `inner`: one row for each pair. `left`: the
 * pairs, and the left rows without a pair. `anti`: only the left rows without a pair.
 */
export type JoinStep = AnyStep &
  RowSource & {
    readonly kind: "join";
    readonly right: string;
    readonly join: JoinKind;
    /** Pairs of fields that must be equal: each has a field of the left rows and a field of the right rows. */
    readonly on: readonly (readonly [left: Path, right: Path])[];
    /**
     * Fields that a new row gets from the matching right row, in addition to all fields of the left row. The left rows are those of the
     * step's source, the right rows are those of the set `right`.
     */
    readonly keep: AddedFields;
  };

const joinKinds = ["inner", "left", "anti"] as const;

/**
 * The rows that a `join` step returns: pairs of rows (`inner`), pairs and unpaired left rows (`left`), or only unpaired left rows (`anti`).
 */
export type JoinKind = (typeof joinKinds)[number];

const pairCount = { min: 1, max: 5 };

/** Definition of the step kind `join`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions. */
export const joinLanguage: StepLanguage<JoinStep> = {
  form: {
    description:
      "Pairs of rows of two sets that are equal in some fields, one row for each pair; null and absent fields equal nothing. Default inner: only pairs; left: also rows of the set without a pair; anti: only rows without a pair.",
    required: {
      join: sourceSchema("orders"),
      with: sourceSchema("payouts", "The other set, the right one."),
      on: {
        description: "Fields of the rows, each with the field of the right rows that it must equal.",
        type: "object",
        minProperties: pairCount.min,
        maxProperties: pairCount.max,
        additionalProperties: fieldPathSchema("order_id", "A field of the right rows, or a path inside one."),
        examples: [{ id: "order_id" }],
      },
    },
    optional: {
      ...sourceOptions,
      kind: { description: "Rows to keep. Default: inner.", enum: joinKinds, examples: ["left"] },
      keep: keepSchema(
        "Fields to take from the right row; null if there is no right row. Not allowed in an anti join.",
        "right",
        [{ paid: "right.amount" }],
      ),
    },
    examples: [
      { id: "paid", join: "orders", with: "payouts", on: { id: "order_id" }, keep: { paid: "right.amount" } },
      { id: "unpaid", join: "orders", with: "payouts", on: { id: "order_id" }, kind: "anti" },
    ],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: "a join", row: undefined },

  read(base, fields, { reader }) {
    const source = readSource(fields, "join", reader);
    const right = readName(fields.at("with"), reader);
    const join = reader.oneOf(fields.at("kind"), joinKinds) ?? "inner";
    const on = readPairs(fields.at("on"), reader);
    const keep = readKeep(fields.at("keep"), "right", reader);
    if (join === "anti" && keep.length > 0) {
      const hint = "leave out one of the two: rows of an anti join have no right row";
      reader.faults.add("PROGRAM_MALFORMED", fields.at("keep").path, "is not allowed with kind anti", hint);
    }
    if (source === undefined || right === undefined || on === undefined) return undefined;
    return { kind: "join", ...base, ...source, right, join, on, keep };
  },

  check(step, { scope, check }) {
    const row = checkSource({ step, field: "join" }, scope, check);
    const other = checkSet({ name: step.right, pointer: step.pointer, field: "with" }, scope, check);
    for (const pair of step.on) checkPair(step, pair, { row, other }, check);
    const kept = step.keep.map(([name, path]) => [name, typeOfKept(step, { name, path }, other, check)] as const);
    if (row === "any" || step.keep.length === 0) return { own: { ...nothing, set: withoutStates(row) }, inner: [] };
    const fields = withKept({ row, kept, path: keepPath(step) }, check);
    return { own: { ...nothing, set: { fields, hasStates: false } }, inner: [] };
  },

  title: ({ right, join }) => (join === "anti" ? `Keep rows that ${right} lacks` : `Join with ${right}`),
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
  setSize: ({ source, join }, { sizeOf, rows }) => (join === "anti" ? sizeOf(source) : rows),
};

function readPairs(node: ShapeNode, reader: ShapeReader): JoinStep["on"] | undefined {
  const object = reader.object(node, { id: "order_id" });
  if (object === undefined) return undefined;
  const hint = 'write {"<field>": "<field of the right rows>"}, such as {"id": "order_id"}';
  const entries = Object.entries(object);
  if (entries.length < pairCount.min || entries.length > pairCount.max) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, `names ${entries.length} pairs of fields`, hint);
  }
  return entries.slice(0, pairCount.max).flatMap(([name, value]) => {
    const path = [...node.path, name];
    const text = reader.text({ value, path }, { max: 512, hint });
    const left = parsePath(name);
    const right = text === undefined ? undefined : parsePath(text);
    if (left !== undefined && right !== undefined) return [[left, right] as const];
    if (text !== undefined) reader.faults.add("PROGRAM_MALFORMED", path, "is not a path of a field", hint);
    return [];
  });
}

type Sides = { readonly row: RowSet | "any"; readonly other: RowSet | "any" };

/** Checks the types of a pair of compared fields. If the types have nothing in common, the values can never be equal. */
function checkPair(step: JoinStep, [left, right]: JoinStep["on"][number], { row, other }: Sides, check: Check): void {
  const at = { pointer: step.pointer, place: ["on", textOf(left)] };
  const given = typesOf(checkField(row, { ...at, field: left }, check));
  const wanted = typesOf(checkField(other, { ...at, field: right }, check));
  if (given === undefined || wanted === undefined || [...given].some((type) => wanted.has(type))) return;
  const message = `is ${[...given].join(" or ")}, but ${textOf(right)} of ${step.right} is ${[...wanted].join(" or ")}: no rows can be equal`;
  const hint = "convert both to one type first: a compute with string(row.<field>)";
  check.faults.add("PROGRAM_REFERENCE_INVALID", fieldPlace(at), message, hint);
}

function textOf(path: Path): string {
  return path.reduce<string>((text, part) => {
    return typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`;
  }, "");
}

function typeOfKept(
  step: JoinStep,
  { name, path }: { readonly name: string; readonly path: Path },
  right: RowSet | "any",
  check: Check,
): ValueType {
  const at = { pointer: step.pointer, place: ["keep", name] };
  if (path.length > 0) return checkField(right, { ...at, field: path }, check);
  const hint = "name one of its fields, such as right.amount";
  check.faults.add("PROGRAM_REFERENCE_INVALID", fieldPlace(at), "is the whole right row", hint);
  return undefined;
}
