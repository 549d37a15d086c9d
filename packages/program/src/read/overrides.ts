import type { JsonSchema } from "@svc/catalog";
import { formatValue } from "@svc/core";
import type { Overrides, OverrideTarget } from "../point.ts";
import type { ObjectForm } from "./form.ts";
import { idForm, nameSchema } from "./name.ts";
import { checkSchemaDocument } from "./schema-document.ts";
import type { Node, ShapeReader } from "./shape.ts";

/** The form of `overrides`. */
export const overridesForm: ObjectForm = {
  description: "What a retry-with answer changes.",
  required: {
    target: {
      description: "params, or steps.<id>.args for the arguments of one call.",
      type: "string",
      pattern: String.raw`^(params|steps\.[A-Za-z]\w{0,63}\.args)$`,
      examples: ["params"],
    },
  },
  optional: {
    rerunFrom: nameSchema("The step that a judge step goes back to. No write stands between.", "open"),
  },
  examples: [{ target: "params", rerunFrom: "open" }],
};

/** Reads what an answer changes. */
export function readOverrides(node: Node, reader: ShapeReader): Overrides | undefined {
  const fields = reader.fields(node, overridesForm);
  if (fields === undefined) return undefined;
  const hint = "write params, or steps.<id>.args for the arguments of one call";
  const text = reader.text(fields.at("target"), { max: 200, hint });
  const target = text === undefined ? undefined : parseTarget(text);
  if (text !== undefined && target === undefined) {
    reader.faults.add("PROGRAM_MALFORMED", fields.at("target").path, `is ${formatValue(text)}`, hint);
  }
  const rerunFrom = fields.has("rerunFrom") ? reader.text(fields.at("rerunFrom"), idForm) : undefined;
  return target && { target, rerunFrom };
}

function parseTarget(text: string): OverrideTarget | undefined {
  if (text === "params") return { kind: "params" };
  const step = /^steps\.([A-Za-z]\w{0,63})\.args$/.exec(text)?.[1];
  return step === undefined ? undefined : { kind: "args", step };
}

/** Reads the schema of what an answer brings; undefined when none is given, or one that cannot be used. */
export function readAnswerSchema(node: Node, reader: ShapeReader): JsonSchema | undefined {
  if (node.value === undefined) return undefined;
  if (!checkSchemaDocument(node, reader.faults, "PROGRAM_POINT_INVALID")) return undefined;
  const schema = node.value as JsonSchema;
  if (schema.additionalProperties !== false) {
    const hint = 'add "additionalProperties": false';
    reader.faults.add("PROGRAM_POINT_INVALID", node.path, "lets an answer name what nothing takes", hint);
  }
  return schema;
}
