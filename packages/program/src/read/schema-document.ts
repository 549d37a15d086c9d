import { createTenantValidators, type JsonSchema } from "@svc/catalog";
import { formatValue, isObject } from "@svc/core";
import type { FaultList, ProgramFaultCode } from "../faults.ts";
import type { Path } from "../json.ts";
import type { ShapeNode } from "./shape.ts";

/**
 * Keywords that a JSON Schema inside a program may use. They are the keywords of JSON Schema 2020-12 whose check takes time linear in the
 * size of the value.
 */
const plainKeywords = `type title description default examples enum const required minItems maxItems minLength maxLength
  pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minProperties maxProperties
  additionalProperties dependentRequired x-sensitive`.split(/\s+/);
const schemaKeywords = ["items"];
const listKeywords = ["anyOf", "oneOf", "allOf"];
const keywords = new Set([...plainKeywords, ...schemaKeywords, ...listKeywords, "properties"]);

/**
 * Checks a schema inside a program (inputSchema, answerSchema): it must describe an object, use only allowed keywords, and compile. Records
 * every fault. Returns true if there was no fault.
 */
export function checkSchemaDocument(node: ShapeNode, faults: FaultList, code: ProgramFaultCode): boolean {
  const before = faults.count;
  if (!isObject(node.value)) {
    faults.add(code, node.path, `is ${formatValue(node.value)}, not a schema`, "write a JSON Schema of an object");
    return false;
  }
  if (node.value.type !== "object") {
    faults.add(code, node.path, "does not say that its type is object", 'add "type": "object"');
  }
  checkNode(node, faults, code);
  if (faults.count === before) checkCompiles(node.value, node.path, faults, code);
  return faults.count === before;
}

function checkNode({ value, path }: ShapeNode, faults: FaultList, code: ProgramFaultCode): void {
  if (!isObject(value)) {
    faults.add(code, path, `is ${formatValue(value)}, not a schema`, "write a JSON Schema");
    return;
  }
  for (const [keyword, child] of Object.entries(value)) {
    const at = [...path, keyword];
    if (!keywords.has(keyword)) {
      faults.add(code, at, `${formatValue(keyword)} is not a keyword here`, `use ${[...keywords].join(", ")}`);
    } else if (schemaKeywords.includes(keyword)) checkNode({ value: child, path: at }, faults, code);
    else if (listKeywords.includes(keyword)) checkGroup(Array.isArray(child) ? child : undefined, at, faults, code);
    else if (keyword === "properties") checkGroup(isObject(child) ? child : undefined, at, faults, code);
    else if (keyword === "additionalProperties" && typeof child !== "boolean") {
      faults.add(code, at, "is neither true nor false", "write true or false");
    }
  }
}

function checkGroup(group: object | undefined, path: Path, faults: FaultList, code: ProgramFaultCode): void {
  if (group === undefined) {
    const hint = path.at(-1) === "properties" ? "write an object of schemas" : "write a list of schemas";
    faults.add(code, path, "contains no schemas", hint);
    return;
  }
  const isList = Array.isArray(group);
  for (const [name, child] of Object.entries(group)) {
    checkNode({ value: child, path: [...path, isList ? Number(name) : name] }, faults, code);
  }
}

/**
 * Compiles a JSON Schema, and records a fault if that fails. This finds keyword values of wrong types, patterns that RE2 refuses, and
 * unknown formats.
 */
function checkCompiles(schema: JsonSchema, path: Path, faults: FaultList, code: ProgramFaultCode): void {
  try {
    createTenantValidators()(schema)({});
  } catch (error) {
    const message = error instanceof Error ? error.message.slice(0, 200) : String(error);
    faults.add(code, path, `is not a valid schema: ${message}`, "write it as JSON Schema 2020-12");
  }
}
