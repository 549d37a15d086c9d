import type { JsonSchema } from "@svc/catalog";
import { formatValue, scalarText } from "@svc/core";
import type { DeclaredResult, ValueTemplate } from "../template.ts";
import { ref } from "./form.ts";
import { parsePath, referenceRoots } from "./reference.ts";
import type { Node, ShapeReader } from "./shape.ts";
import { readValue } from "./value.ts";

/** The JSON Schema of `result`. */
export const resultSchema: JsonSchema = {
  description: "Scalars by name that the receipt carries, at most 16 KB. What is absent is null.",
  type: "object",
  additionalProperties: { ...ref("value"), description: "A reference, a text or a scalar." },
  examples: [{ sent: { $ref: "steps.sum.sent" } }],
};

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
