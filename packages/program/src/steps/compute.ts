import { formatValue } from "@svc/core";
import { checkComputed } from "../check/expression.ts";
import { readExpression } from "../read/expression.ts";
import { ref } from "../read/form.ts";
import { idForm } from "../read/name.ts";
import type { ShapeNode, ShapeReader } from "../read/shape.ts";
import type { Expression } from "../template.ts";
import { nothing } from "../types/scope.ts";
import type { AnyStep, StepLanguage } from "./language.ts";
import { checkSource, type RowSource, readSource, sourceOptions, sourceSchema } from "./parts/source.ts";
import { quoted } from "./parts/title.ts";
import { noUse } from "./use.ts";

/** Step kind `compute`: adds fields to the rows of an earlier step. Expressions compute the values of the fields. */
export type ComputeStep = AnyStep &
  RowSource & {
    readonly kind: "compute";
    readonly fields: readonly (readonly [name: string, value: Expression])[];
  };

const fieldCount = { min: 1, max: 20 };

/**
 * Definition of the step kind `compute`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions.
 */
export const computeLanguage: StepLanguage<ComputeStep> = {
  form: {
    description:
      "The rows of a set with computed fields, each by a CEL expression over row. A field with the name of an existing field replaces it.",
    required: {
      compute: sourceSchema("contacts"),
      fields: {
        description: "Expressions by field name. Each reads the row as it is in the source set.",
        type: "object",
        minProperties: fieldCount.min,
        maxProperties: fieldCount.max,
        propertyNames: { pattern: idForm.pattern.source },
        additionalProperties: { ...ref("expression"), examples: ["row.email.lowerAscii()"] },
        examples: [{ email: "row.email.lowerAscii()" }],
      },
    },
    optional: sourceOptions,
    examples: [{ id: "plain", compute: "contacts", fields: { email: "row.email.trim().lowerAscii()" } }],
  },
  formInMap: undefined,
  refusedInItself: undefined,
  definitions: {},
  named: { value: undefined, set: "a compute", row: { place: "the fields of a compute", isExpression: true } },

  read(base, fields, { reader }) {
    const source = readSource(fields, "compute", reader);
    const computed = readComputed(fields.at("fields"), reader);
    return source === undefined ? undefined : { kind: "compute", ...base, ...source, fields: computed };
  },

  check(step, { scope, check }) {
    const row = checkSource({ step, field: "compute" }, scope, check);
    const computed = step.fields.map(([name, value]) => {
      return [name, checkComputed(value, { ...scope, row }, check.faults)] as const;
    });
    if (row === "any") return { own: { ...nothing, set: "any" }, inner: [] };
    return { own: { ...nothing, set: { fields: new Map([...row.fields, ...computed]), hasStates: false } }, inner: [] };
  },

  title: ({ fields }) => `Compute ${quoted(fields.map(([name]) => name).join(", "))}`,
  lists: () => [],
  calls: () => [],
  asks: () => [],
  estimate: () => noUse,
  setSize: ({ source }, { sizeOf }) => sizeOf(source),
};

function readComputed(node: ShapeNode, reader: ShapeReader): ComputeStep["fields"] {
  const object = reader.object(node, { email: "row.email.lowerAscii()" });
  const entries = Object.entries(object ?? {});
  if (object !== undefined && (entries.length < fieldCount.min || entries.length > fieldCount.max)) {
    const hint = `name 1 to ${fieldCount.max} fields, such as {"email": "row.email.lowerAscii()"}`;
    reader.faults.add("PROGRAM_MALFORMED", node.path, `names ${entries.length} fields`, hint);
  }
  return entries.slice(0, fieldCount.max).flatMap(([name, value]) => {
    const at = { value, path: [...node.path, name] };
    if (!idForm.pattern.test(name)) {
      reader.faults.add("PROGRAM_MALFORMED", at.path, `is named ${formatValue(name)}`, idForm.hint);
    }
    const expression = readExpression(at, reader);
    return expression === undefined ? [] : [[name, expression] as const];
  });
}
