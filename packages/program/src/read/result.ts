import { formatValue, scalarText } from "@svc/core";
import type { SagaEnd } from "../program.ts";
import type { DeclaredResult, ValueTemplate } from "../template.ts";
import type { ObjectForm } from "./form.ts";
import { parsePath, referenceRoots } from "./reference.ts";
import type { Node, ShapeReader } from "./shape.ts";
import { readValue } from "./value.ts";

/** Reads the declared result: scalars by name, in the order declared; nothing when none is declared. */
export function readResult(node: Node, reader: ShapeReader): DeclaredResult {
  return Object.entries(reader.object(node, { sent: { $ref: "steps.sum.sent" } }) ?? {}).flatMap(([name, value]) => {
    const path = [...node.path, name];
    if (typeof value === "string" && isPath(value)) {
      const message = `is the text ${formatValue(value)}, which would be answered as it stands`;
      const hint = `write {"$ref": ${JSON.stringify(value)}}; where the text is meant, {"$literal": "…"}`;
      reader.faults.addYounger("PROGRAM_TEMPLATE_LITERAL", path, message, hint);
    }
    const template = readValue({ value, path }, reader.faults);
    if (template === undefined) return [];
    if (isScalar(template)) return [[name, template] as const];
    reader.faults.add("PROGRAM_MALFORMED", path, "is not a scalar", "name text, numbers, true, false or null");
    return [];
  });
}

/** Whether a text is a path and nothing else. */
function isPath(text: string): boolean {
  const [root, ...path] = parsePath(text) ?? [];
  return typeof root === "string" && referenceRoots.has(root) && path.length > 0;
}

function isScalar(template: ValueTemplate): boolean {
  if (template.kind === "literal") return template.value === null || scalarText(template.value) !== undefined;
  return template.kind !== "object" && template.kind !== "list";
}

const ends = ["failed", "aborted", "cancelled"] as const satisfies readonly SagaEnd[];
const endCount = { min: 1, max: ends.length };

/** The form of `saga`. */
export const sagaForm: ObjectForm = {
  description: "Undoes what was done, in reverse, when the job ends as named.",
  required: {
    on: {
      description: "The ends.",
      type: "array",
      minItems: endCount.min,
      maxItems: endCount.max,
      uniqueItems: true,
      items: { description: "One end.", enum: ends, examples: ["failed"] },
      examples: [ends],
    },
  },
  optional: {},
  examples: [{ on: ["failed", "aborted"] }],
};

/** Reads the ends that the saga runs for; none when nothing is said. */
export function readSaga(node: Node, reader: ShapeReader): readonly SagaEnd[] {
  const fields = node.value === undefined ? undefined : reader.fields(node, sagaForm);
  const items = fields?.has("on") ? reader.items(fields.at("on"), endCount) : undefined;
  const named = (items ?? []).flatMap((item) => reader.oneOf<SagaEnd>(item, ends) ?? []);
  if (new Set(named).size < named.length) {
    reader.faults.add("PROGRAM_MALFORMED", [...node.path, "on"], "names an end twice", "name each once");
  }
  return named;
}
