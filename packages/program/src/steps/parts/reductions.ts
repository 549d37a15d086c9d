import type { JsonSchema } from "@svc/catalog";
import { formatValue, isObject } from "@svc/core";
import type { Check } from "../../check/context.ts";
import { checkReferences } from "../../check/references.ts";
import type { Path } from "../../json.ts";
import { type ObjectForm, schemaOf, wholeSchema } from "../../read/form.ts";
import { idForm } from "../../read/name.ts";
import { parsePath } from "../../read/reference.ts";
import type { ShapeNode, ShapeReader } from "../../read/shape.ts";
import { readText } from "../../read/value.ts";
import type { TextTemplate } from "../../template.ts";
import { typesOf, type ValueType, walkType } from "../../types/schema-type.ts";
import { type RowSet, type RowState, rowStates, type Scope } from "../../types/scope.ts";
import { quoted } from "./title.ts";

/**
 * One value that is computed over a set of rows. It is the number of rows, the sum or mean of a field, its smallest or largest value, a
 * list of its values, or one text made of all rows.
 */
export type Reduction =
  | { readonly kind: "count"; readonly state: RowState | undefined }
  | { readonly kind: "sum" | "min" | "max" | "avg" | "list"; readonly field: Path }
  | {
      readonly kind: "text";
      /** Template of the text that each row adds (for example `{row.title}`). */
      readonly of: TextTemplate;
      readonly separator: string;
      /** Maximum number of rows whose parts the text contains. Further rows are left out. */
      readonly max: number;
      /**
       * Text that is added if the set (list of rows) has more rows than `max`. The two entries are the parts before and after the number of
       * the remaining rows. Undefined if nothing is added for the remaining rows.
       */
      readonly more: readonly string[] | undefined;
    };

/** The values that a step computes over all rows of a set (list of rows), by name, such as a sum. */
export type Reductions = readonly (readonly [name: string, Reduction])[];

/** Maximum length of a list that a `reduce` step makes from rows, and maximum number of rows from which it makes a text. */
export const listedRowsMax = 1_000;

const textMax = 200;
const partMax = 2_000;
const told = { min: 1, max: listedRowsMax };
const morePattern = String.raw`^([^{]|\{more\})*$`;

const textForm: ObjectForm = {
  description: "One text of all rows, at most 64 KiB.",
  required: {
    of: {
      description: "Text of each row; {row.<field>} takes a value, an absent value is empty, {{ is a brace.",
      type: "string",
      minLength: 1,
      maxLength: partMax,
      examples: ["- {row.title} ({row.value})"],
    },
  },
  optional: {
    separator: {
      description: "Text between rows. Default: a new line.",
      type: "string",
      maxLength: textMax,
      examples: ["\n"],
    },
    max: wholeSchema("Maximum rows in the text. Default: 1000.", told, 50),
    more: {
      description: "Text at the end if there are more rows than max; {more} is the number of those rows.",
      type: "string",
      minLength: 1,
      maxLength: textMax,
      pattern: morePattern,
      examples: ["and {more} others"],
    },
  },
  examples: [{ of: "- {row.title} ({row.value})", separator: "\n", max: 50, more: "and {more} others" }],
};

const textReductionForm: ObjectForm = {
  description: "Rows joined into one text.",
  required: { text: schemaOf(textForm) },
  optional: {},
  examples: [{ text: { of: "- {row.title}" } }],
};

/** JSON Schema for the values that a `reduce` step computes from all rows of a set, for example a count or a sum. */
export const reductionsSchema: JsonSchema = {
  description:
    "Values by name: count; count ok (or failed, skipped, unknown; only for maps); sum F or avg F of a kept number field; min F or max F of a number or text field; list F of any field (at most 1,000 values); or a text of all rows.",
  type: "object",
  minProperties: 1,
  propertyNames: { pattern: idForm.pattern.source },
  additionalProperties: {
    description: "A value over the rows.",
    examples: ["count", { text: { of: "- {row.title}" } }],
    anyOf: [
      {
        description: "One value.",
        type: "string",
        maxLength: textMax,
        pattern: String.raw`^(count( (${rowStates.join("|")}))?|(sum|min|max|avg|list) [^\s]+)$`,
        examples: ["count ok"],
      },
      schemaOf(textReductionForm),
    ],
  },
  examples: [{ sent: "count ok", total: "sum amount", lines: { text: { of: "- {row.title}" } } }],
};

const hint =
  'write count, count ok (or failed, skipped, unknown), or sum, min, max, avg or list and a field, or {"text": {"of": "- {row.<field>}"}}';

/**
 * Reads a step's definitions of values that are computed from all rows of a list, such as `count ok` or `sum amount`. Returns the parsed
 * definitions by name. Records errors in them.
 */
export function readReductions(node: ShapeNode, reader: ShapeReader): Reductions {
  const object = reader.object(node);
  if (object !== undefined && Object.keys(object).length === 0) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, "names no value", `add one: ${hint}`);
  }
  return Object.entries(object ?? {}).flatMap(([name, value]) => {
    const path = [...node.path, name];
    if (!idForm.pattern.test(name)) {
      reader.faults.add("PROGRAM_MALFORMED", path, `is named ${formatValue(name)}`, idForm.hint);
    }
    if (isObject(value) && ["$cel", "$expr", "$ref"].some((key) => Object.hasOwn(value, key))) {
      const message = `is ${formatValue(value)}, but values over the rows are written in words`;
      const computed =
        'to compute a value for each row first, add a step such as {"id": "plain", "compute": S, "fields": {"total": "row.value * 2.0"}}';
      reader.faults.add("PROGRAM_MALFORMED", path, message, `${hintOf(Object.values(value).join(""))}; ${computed}`);
      return [];
    }
    const reduction = isObject(value) ? readTextOf({ value, path }, reader) : readWords({ value, path }, reader);
    return reduction === undefined ? [] : [[name, reduction] as const];
  });
}

function readWords(node: ShapeNode, reader: ShapeReader): Reduction | undefined {
  const text = reader.text(node, { max: textMax, hint });
  const reduction = text === undefined ? undefined : parseReduction(text);
  if (text !== undefined && reduction === undefined) {
    reader.faults.add(
      "PROGRAM_MALFORMED",
      node.path,
      `is ${formatValue(text)}, which is not such a value`,
      hintOf(text),
    );
  }
  return reduction;
}

/** Returns the hint for a value that was written as a function call. For example, `sum(amount)` must be written as `sum amount`. */
function hintOf(text: string): string {
  const [, kind, operand = ""] = /^(\w{1,10})\(\s*([\w.* ]{0,60})\)$/.exec(text) ?? [];
  const written = `${kind?.toLowerCase()} ${operand === "*" ? "" : operand.trim().replace(/^row\./, "")}`.trim();
  return kind !== undefined && parseReduction(written) !== undefined ? `write ${JSON.stringify(written)}` : hint;
}

function parseReduction(text: string): Reduction | undefined {
  const [kind, operand, ...others] = text.split(" ");
  if (others.length > 0) return undefined;
  if (kind === "count") {
    const state = rowStates.find((name) => name === operand);
    return operand === undefined || state !== undefined ? { kind, state } : undefined;
  }
  if (kind !== "sum" && kind !== "min" && kind !== "max" && kind !== "avg" && kind !== "list") return undefined;
  const field = operand === undefined ? undefined : parsePath(operand);
  return field === undefined || typeof field[0] !== "string" ? undefined : { kind, field };
}

function readTextOf(node: ShapeNode, reader: ShapeReader): Reduction | undefined {
  const field = reader.fields(node, textReductionForm)?.at("text");
  const fields = field && reader.fields(field, textForm);
  if (fields === undefined) return undefined;
  const written = reader.text(fields.at("of"), { max: partMax });
  const of = written === undefined ? undefined : readText(written, fields.at("of").path, reader.faults);
  const separator = fields.has("separator") ? reader.text(fields.at("separator"), { min: 0, max: textMax }) : "\n";
  const max = reader.number(fields.at("max"), told) ?? told.max;
  const moreForm = {
    max: textMax,
    pattern: new RegExp(morePattern),
    hint: "write a text whose only reference is {more}",
  };
  const more = fields.has("more") ? reader.text(fields.at("more"), moreForm) : undefined;
  if (of === undefined || separator === undefined) return undefined;
  return { kind: "text", of, separator, max, more: more?.split("{more}") };
}

/**
 * The place in a program that declares values to compute over a set of rows (for example a sum). `path`: path of this place. `scope`: names
 * that can be used there.
 */
type Place = { readonly path: Path; readonly scope: Scope };

/**
 * Checks the values that are computed over a set of rows (for example `sum amount`). Returns the type of each value, by name. Records every
 * fault.
 */
export function checkReductions(
  reductions: Reductions,
  row: RowSet | "any",
  { path, scope }: Place,
  { faults }: Pick<Check, "faults">,
): Readonly<Record<string, JsonSchema>> {
  const types = reductions.map(([name, reduction]): [string, JsonSchema] => {
    const at = [...path, name];
    if (reduction.kind === "text") {
      checkReferences(reduction.of, [...at, "text", "of"], { ...scope, row }, faults);
      return [name, { type: "string" }];
    }
    const found = row === "any" ? { type: undefined } : typeOfReduction(row, reduction);
    if ("fault" in found) faults.add("PROGRAM_REFERENCE_INVALID", at, found.fault, found.hint);
    if (reduction.kind === "min" || reduction.kind === "max")
      return [name, bestType("type" in found ? found.type : undefined)];
    if (reduction.kind !== "list") return [name, { type: "number" }];
    return [name, { type: "array", ...("type" in found && found.type !== undefined && { items: found.type }) }];
  });
  return Object.fromEntries(types);
}

/** Returns the type of a value that `min` or `max` computes. `type`: the type of the compared values. */
function bestType(type: ValueType): JsonSchema {
  const types = typesOf(type);
  if (types?.has("string") !== true) return types === undefined ? {} : { type: "number" };
  return types.has("number") || type === undefined ? {} : type;
}

type Found = { readonly type: ValueType } | { readonly fault: string; readonly hint: string };

function typeOfReduction(source: RowSet, reduction: Exclude<Reduction, { kind: "text" }>): Found {
  if (reduction.kind === "count") {
    if (reduction.state === undefined || source.hasStates) return { type: undefined };
    return { fault: "counts rows by state, but only rows of a map have a state", hint: "write count, or reduce a map" };
  }
  const [field, ...rest] = reduction.field;
  if (!source.fields.has(String(field))) {
    return { fault: `rows have no field ${field}`, hint: `keep it, or use ${[...source.fields.keys()].join(", ")}` };
  }
  const found = walkType(source.fields.get(String(field)), rest);
  if ("fault" in found) return { fault: `the field ${found.fault}`, hint: "name a field that exists" };
  const types = typesOf(found.type);
  if (reduction.kind === "list" || types === undefined || types.has("number")) return found;
  const isCompared = reduction.kind === "min" || reduction.kind === "max";
  if (isCompared && types.has("string")) return found;
  const name = reduction.field.join(".");
  const cure = `compute a number first, {"compute": …, "fields": {"${reduction.field.at(-1)}": "double(row.${name})"}}, and use that set`;
  const wanted = isCompared ? "a number or a text" : "a number";
  const right = types.has("string") ? cure : `name a field of ${isCompared ? "numbers or texts" : "numbers"}, or count`;
  return { fault: `is ${[...types].join(" or ")}, not ${wanted}`, hint: right };
}

/** Words for the kinds of values that are computed over rows, as titles of steps use them. */
const reductionWords = { sum: "Sum of", min: "Smallest", max: "Largest", avg: "Average of", list: "List of" } as const;

/** Returns the values that a step computes over rows in words for its title, such as `Count rows, Sum of value`. */
export function reductionsText(reductions: Reductions): string {
  const words = reductions.map(([, reduction]) => {
    if (reduction.kind === "text") return "Text of the rows";
    if (reduction.kind === "count") return `Count ${reduction.state === undefined ? "" : `${reduction.state} `}rows`;
    return `${reductionWords[reduction.kind]} ${reduction.field.join(".")}`;
  });
  return quoted([...new Set(words)].join(", "));
}
