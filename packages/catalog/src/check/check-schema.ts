import { isObject } from "@svc/core";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import type { JsonSchema } from "../read/documents.ts";
import { isKnownFormat } from "../schema/formats.ts";
import { faultsOfSchema } from "../schema/json-schema.ts";

/** Keywords that the JSON Schemas in a toolkit's definition may use: keywords of JSON Schema 2020-12, and svc's own (`x-…`). */
const keywords = new Set(
  `$ref $defs $comment title description default examples deprecated type enum const multipleOf maximum exclusiveMaximum
  minimum exclusiveMinimum maxLength minLength pattern format items prefixItems maxItems minItems uniqueItems contains
  maxContains minContains maxProperties minProperties required properties patternProperties additionalProperties
  propertyNames dependentRequired dependentSchemas allOf anyOf oneOf not if then else unevaluatedItems
  unevaluatedProperties x-sensitive x-host`.split(/\s+/),
);

const schemaKeywords = [
  "items",
  "contains",
  "additionalProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
];
const ruleKeywords = ["if", "then", "else", "not"];
const ruleListKeywords = ["allOf", "anyOf", "oneOf"];

/**
 * Kind of a schema. In `input`, every property needs a description. In `output`, every property needs a type, because svc uses the types to
 * trim results.
 */
type SchemaPart = "input" | "output";

type Check = { readonly file: DefinitionFile; readonly part: SchemaPart };

/**
 * Checks an input or output schema beyond its form: valid JSON Schema, known keywords and formats, declared names in `required` and in
 * rules, and valid defaults. Every argument needs a description and every output field needs a type.
 */
export function checkSchema(file: DefinitionFile, path: FaultPath, schema: JsonSchema, part: SchemaPart): void {
  const faults = faultsOfSchema(schema);
  for (const { pointer, message } of faults) {
    const steps = pointer
      .split("/")
      .slice(1)
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    file.fault([...path, ...steps], message, "write it as JSON Schema 2020-12");
  }
  if (faults.length === 0) checkNode({ file, part }, path, schema, undefined);
}

/**
 * Checks the schema `node` and the schemas inside it. `declared`: property names that another schema declares for the same value. Undefined
 * if `node` declares the properties itself.
 */
function checkNode(check: Check, path: FaultPath, node: unknown, declared: ReadonlySet<string> | undefined): void {
  if (!isObject(node)) return;
  checkKeywords(check, path, node);
  const properties = isObject(node.properties) ? node.properties : {};
  const names = declared ?? new Set(Object.keys(properties));
  checkNames(check, path, node, names);
  checkDefault(check, path, node);
  for (const [name, property] of Object.entries(properties)) {
    checkProperty(check, [...path, "properties", name], property, declared !== undefined);
  }
  for (const keyword of schemaKeywords) checkNode(check, [...path, keyword], node[keyword], undefined);
  for (const keyword of ["$defs", "patternProperties"]) {
    const group = isObject(node[keyword]) ? node[keyword] : {};
    for (const [name, child] of Object.entries(group)) checkNode(check, [...path, keyword, name], child, undefined);
  }
  const prefixItems = Array.isArray(node.prefixItems) ? node.prefixItems : [];
  prefixItems.forEach((child, index) => {
    checkNode(check, [...path, "prefixItems", index], child, undefined);
  });
  checkRules(check, path, node, names);
}

/**
 * Checks a property of a tool's JSON schema. `isRule`: true if the property is inside a rule, such as a branch of `anyOf`. A property in a
 * rule needs no description and no type, because another part of the schema declares them.
 */
function checkProperty(check: Check, path: FaultPath, property: unknown, isRule: boolean): void {
  const description = isObject(property) ? property.description : undefined;
  if (check.part === "input" && !isRule && (typeof description !== "string" || description.length < 3)) {
    check.file.fault(path, "has no description", "describe it with units, format and an example where one helps");
  }
  if (check.part === "output" && !isRule && !isTyped(property)) {
    check.file.fault(
      path,
      "has no type",
      "add a type, such as string, or an enum; an object without properties is kept whole",
    );
  }
  // A schema that is a rule (such as a branch of `anyOf`) may name properties that another schema declares. So its names cannot be checked
  // here.
  if (!isRule) checkNode(check, path, property, undefined);
}

const typeKeywords = ["type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"];

function isTyped(property: unknown): boolean {
  return isObject(property) && typeKeywords.some((keyword) => Object.hasOwn(property, keyword));
}

function checkRules(check: Check, path: FaultPath, node: JsonSchema, names: ReadonlySet<string>): void {
  for (const keyword of ruleKeywords) checkNode(check, [...path, keyword], node[keyword], names);
  for (const keyword of ruleListKeywords) {
    const rules = Array.isArray(node[keyword]) ? (node[keyword] as unknown[]) : [];
    rules.forEach((rule, index) => {
      checkNode(check, [...path, keyword, index], rule, names.size === 0 ? undefined : names);
    });
  }
  const dependent = isObject(node.dependentSchemas) ? node.dependentSchemas : {};
  for (const [name, rule] of Object.entries(dependent))
    checkNode(check, [...path, "dependentSchemas", name], rule, names);
}

function checkKeywords({ file }: Check, path: FaultPath, node: JsonSchema): void {
  for (const keyword of Object.keys(node)) {
    if (!keywords.has(keyword)) {
      file.fault([...path, keyword], "is not a keyword of JSON Schema", "correct the spelling or remove it");
    }
  }
  if (typeof node.$ref === "string" && !node.$ref.startsWith("#")) {
    file.fault([...path, "$ref"], `points outside the schema (${node.$ref})`, "use a reference such as #/$defs/name");
  }
  if (typeof node.format === "string" && !isKnownFormat(node.format)) {
    file.fault(
      [...path, "format"],
      `"${node.format}" is not a known format`,
      "use one such as date-time, date, email or uri",
    );
  }
}

function checkNames({ file }: Check, path: FaultPath, node: JsonSchema, names: ReadonlySet<string>): void {
  if (names.size === 0) return;
  const report = (at: FaultPath, name: unknown) => {
    if (typeof name !== "string" || names.has(name)) return;
    file.fault(
      [...path, ...at],
      `names "${name}", which is not a property here`,
      `use one of ${[...names].join(", ")}`,
    );
  };
  listOf(node.required).forEach((name, index) => {
    report(["required", index], name);
  });
  const properties = isObject(node.properties) ? node.properties : {};
  for (const name of Object.keys(properties)) report(["properties", name], name);
  const dependent = isObject(node.dependentRequired) ? node.dependentRequired : {};
  for (const [name, others] of Object.entries(dependent)) {
    report(["dependentRequired", name], name);
    listOf(others).forEach((other, index) => {
      report(["dependentRequired", name, index], other);
    });
  }
}

function checkDefault({ file }: Check, path: FaultPath, node: JsonSchema): void {
  if (node.default === undefined) return;
  if (Array.isArray(node.enum) && !node.enum.includes(node.default)) {
    file.fault(
      [...path, "default"],
      `${JSON.stringify(node.default)} is not in enum`,
      `use one of ${node.enum.join(", ")}`,
    );
  }
  const types = listOf(node.type ?? []);
  if (types.length > 0 && !types.some((type) => isOfType(node.default, type))) {
    file.fault(
      [...path, "default"],
      `${JSON.stringify(node.default)} is not of type ${types.join(" or ")}`,
      "correct one of the two",
    );
  }
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  return typeof value === type;
}

function listOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
