import { formatValue } from "@svc/core";
import type { Path } from "../json.ts";
import { pathOf } from "../json.ts";
import type { ObjectForm } from "../read/form.ts";
import { idForm } from "../read/name.ts";
import { parsePath } from "../read/reference.ts";
import type { Node, ShapeReader } from "../read/shape.ts";
import { type RowState, rowStates } from "../types/row-state.ts";
import { typesOf, walkType } from "../types/schema-type.ts";
import { nothing, type RowSet } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { checkSource, readSource, type Source, sourceOptions, sourceSchema } from "./parts/source.ts";
import { noUse } from "./use.ts";

/** Numbers over a set, by name. */
export type ReduceStep = AnyStep &
  Source & {
    readonly kind: "reduce";
    readonly as: readonly (readonly [string, Reduction])[];
  };

/** One number over a set: how many rows (of one state), or a sum, least, greatest or mean of a field's numbers. */
export type Reduction =
  | { readonly kind: "count"; readonly state: RowState | undefined }
  | { readonly kind: "sum" | "min" | "max" | "avg"; readonly field: Path };

const textMax = 200;

const form: ObjectForm = {
  description: "Numbers over a set, read as steps.<id>.<name>.",
  required: {
    reduce: sourceSchema("remind"),
    as: {
      description:
        "Numbers by name: count, count ok (or failed, skipped, unknown; of maps only), sum F, min F, max F or avg F of a kept field of numbers.",
      type: "object",
      minProperties: 1,
      propertyNames: { pattern: idForm.pattern.source },
      additionalProperties: {
        description: "One number.",
        type: "string",
        maxLength: textMax,
        pattern: String.raw`^(count( (${rowStates.join("|")}))?|(sum|min|max|avg) [^\s]+)$`,
        examples: ["count ok"],
      },
      examples: [{ sent: "count ok", total: "sum amount" }],
    },
  },
  optional: sourceOptions,
  examples: [{ id: "sum", reduce: "remind", as: { sent: "count ok", failed: "count failed" } }],
};

/** The language of `reduce`. */
export const reduceLanguage: StepLanguage<ReduceStep> = {
  form,
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: "reduces", set: undefined, row: undefined },

  read(base, fields, { reader }) {
    const source = readSource(fields, "reduce", reader);
    const as = readReductions(fields.at("as"), reader);
    return source === undefined ? undefined : { kind: "reduce", ...base, ...source, as };
  },

  check(step, { scope, check: { faults }, check }) {
    const source = checkSource({ step, field: "reduce" }, scope, check);
    for (const [name, reduction] of step.as) {
      const fault = source === "any" ? undefined : faultOfReduction(source, reduction);
      if (fault === undefined) continue;
      faults.add("PROGRAM_REFERENCE_INVALID", [...pathOf(step.pointer), "as", name], fault.message, fault.hint);
    }
    const properties = Object.fromEntries(step.as.map(([name]) => [name, { type: "number" }]));
    const type = faults.has(`${step.pointer}/as`) ? undefined : { type: "object", properties };
    return { own: { ...nothing, value: { type } }, inner: [] };
  },

  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
};

const hint = "write count, count ok (or failed, skipped, unknown), or sum, min, max or avg and a field";

function readReductions(node: Node, reader: ShapeReader): ReduceStep["as"] {
  const object = reader.object(node);
  if (object !== undefined && Object.keys(object).length === 0) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, "names no number", `add one: ${hint}`);
  }
  return Object.entries(object ?? {}).flatMap(([name, value]) => {
    const path = [...node.path, name];
    if (!idForm.pattern.test(name)) {
      reader.faults.add("PROGRAM_MALFORMED", path, `is named ${formatValue(name)}`, idForm.hint);
    }
    const text = reader.text({ value, path }, { max: textMax, hint });
    const reduction = text === undefined ? undefined : parseReduction(text);
    if (text !== undefined && reduction === undefined) {
      reader.faults.add("PROGRAM_MALFORMED", path, `is ${formatValue(text)}, which is no such number`, hint);
    }
    return reduction === undefined ? [] : [[name, reduction] as const];
  });
}

function parseReduction(text: string): Reduction | undefined {
  const [kind, operand, ...others] = text.split(" ");
  if (others.length > 0) return undefined;
  if (kind === "count") {
    const state = rowStates.find((name) => name === operand);
    return operand === undefined || state !== undefined ? { kind, state } : undefined;
  }
  if (kind !== "sum" && kind !== "min" && kind !== "max" && kind !== "avg") return undefined;
  const field = operand === undefined ? undefined : parsePath(operand);
  return field === undefined || typeof field[0] !== "string" ? undefined : { kind, field };
}

type ReductionFault = { readonly message: string; readonly hint: string };

function faultOfReduction(source: RowSet, reduction: Reduction): ReductionFault | undefined {
  if (reduction.kind === "count") {
    if (reduction.state === undefined || source.hasStates) return undefined;
    return { message: "counts rows by state, but only rows of a map have one", hint: "write count, or reduce a map" };
  }
  const [field, ...rest] = reduction.field;
  const fields = [...source.fields.keys()].join(", ");
  if (!source.fields.has(String(field))) {
    return { message: `rows have no field ${field}`, hint: `keep it, or use ${fields}` };
  }
  const found = walkType(source.fields.get(String(field)), rest);
  if ("fault" in found) return { message: `the field ${found.fault}`, hint: "name a field that it has" };
  const types = typesOf(found.type);
  if (types === undefined || types.has("number")) return undefined;
  return { message: `is ${[...types].join(" or ")}, not a number`, hint: "name a field of numbers, or count" };
}
