import { isObject } from "@svc/core";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import type { JsonSchema } from "../read/documents.ts";
import { withNulls } from "../schema/json-schema.ts";
import { schemaSize, schemaSizeMax } from "../schema/judging-cost.ts";
import { parseLinearRegExp } from "../schema/linear-reg-exp.ts";
import { checkTenantTrigger, checkTenantWebhook } from "./check-tenant-webhook.ts";
import { toolkitLimits } from "./toolkit-limits.ts";

/** Maximum levels of nesting in a file of a private toolkit's definition. */
const depthMax = 32;

/**
 * Records an error if a file of a private toolkit (published by a project) is too large or too deeply nested, so that checking it could
 * take too long.
 */
export function checkTenantSize(file: DefinitionFile): void {
  // Check the depth first, because writing a value as JSON uses one stack frame per level.
  if (depthOf(file.value) > depthMax) {
    file.fault([], `is nested deeper than ${depthMax} levels`, "flatten it");
    return;
  }
  const size = Buffer.byteLength(JSON.stringify(file.value) ?? "");
  const { fileBytes } = toolkitLimits;
  if (size > fileBytes) file.fault([], `has ${size} bytes`, `shorten it to ${fileBytes}`);
  else checkTexts(file);
}

/** Matches control characters, except tabs and line breaks, which texts may contain. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match control characters.
const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;

/** Records errors for characters that apps and the database do not accept, in any text or name; at most 100 errors. */
function checkTexts(file: DefinitionFile): void {
  visitTexts(file.value, [], (text, path, isName) => {
    if (file.faults.length >= 100) return;
    const reason = !text.isWellFormed()
      ? "is not well-formed Unicode"
      : control.test(text) || (isName && /[\t\n\r]/.test(text))
        ? "holds a control character"
        : undefined;
    if (reason !== undefined) {
      file.fault(path.map(shownStep), isName ? `is a name that ${reason}` : reason, "write it without");
    }
  });
}

/**
 * Returns one element of an error's path, with control characters replaced. The caller receives the path as text, which must be well-formed
 * Unicode.
 */
function shownStep(step: string | number): string | number {
  return typeof step === "number" ? step : step.toWellFormed().replaceAll(new RegExp(control, "g"), "\u{fffd}");
}

/**
 * Returns how many levels of objects and lists a value has. Counts level by level without recursion, so that a deep value cannot overflow
 * the stack.
 */
function depthOf(value: unknown): number {
  let level: unknown[] = [value];
  let depth = 0;
  for (; level.length > 0 && depth <= depthMax; depth++) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
  }
  return depth;
}

/**
 * Checks the additional rules for files of private toolkits (apps that one project defined for itself). Records every error in `file`.
 * `webhook`: the webhook that the toolkit declares, unchecked.
 */
export function checkTenantDefinition(file: DefinitionFile, webhook: unknown): void {
  const document = isObject(file.value) ? file.value : {};
  if (file.file === "toolkit" && Object.hasOwn(document, "binding"))
    file.fault(["binding"], "is in a private definition", "remove it: the toolkit names its app already");
  if (file.file === "toolkit") checkTenantWebhook(file, webhook);
  else if (document.kind === "trigger") {
    checkTenantTrigger(file, document, isObject(webhook) ? webhook.each : undefined);
  }
  checkDeleteClass(file);
  visitTexts(file.value, [], (text, path) => {
    if (/\{\{\s*deployment\b/.test(text)) {
      file.fault(
        path,
        "takes a value of the deployment",
        "write the value out: private definitions cannot use values of the deployment",
      );
    }
  });
  for (const part of ["input", "output"]) checkTenantSchema(file, [part], document[part]);
  checkSchemaSizes(file);
}

/**
 * Records an error if a tool sends a DELETE and declares the class `write`. Otherwise keys without the class `destructive` could use the
 * tool.
 */
export function checkDeleteClass(file: DefinitionFile): void {
  const { request, class: declared } = isObject(file.value) ? file.value : {};
  if (!isObject(request) || request.method !== "DELETE" || declared !== "write") return;
  const cure = "write destructive: a private definition cannot lower a class";
  file.fault(["class"], "is write, and the call is a DELETE", cure);
}

/**
 * Records errors for input and output schemas that are too large. Such a schema is compiled at the first call of its tool, and this would
 * take too long.
 */
export function checkSchemaSizes(file: DefinitionFile): void {
  const document = isObject(file.value) ? file.value : {};
  for (const part of ["input", "output"]) {
    const schema = document[part];
    const size = isObject(schema) ? sizeOfPart(part, schema) : 0;
    if (size <= schemaSizeMax) continue;
    const cure = `split the tool, or write fewer properties and rules: ${schemaSizeMax} keywords and names may be there`;
    file.fault([part], `has a schema of ${Math.round(size)} keywords and names`, cure);
  }
}

/** Each schema inside of a result gets a choice with null, whose size is 4. */
const nullsFactor = 5;

function sizeOfPart(part: string, schema: JsonSchema): number {
  const size = schemaSize(schema);
  // Most results are small enough in any case, so that no copy is needed to find the exact size.
  return part === "input" || size * nullsFactor <= schemaSizeMax ? size : schemaSize(withNulls(schema));
}

type Visit = (text: string, path: FaultPath, isName: boolean) => void;

/** Calls `visit` for every text and every property name of a value. */
function visitTexts(value: unknown, path: FaultPath, visit: Visit): void {
  if (typeof value === "string") visit(value, path, false);
  else if (Array.isArray(value)) {
    value.forEach((child, index) => {
      visitTexts(child, [...path, index], visit);
    });
  } else if (isObject(value)) {
    for (const [key, child] of Object.entries(value)) {
      visit(key, [...path, key], true);
      visitTexts(child, [...path, key], visit);
    }
  }
}

/**
 * Keywords whose value maps names to schemas. The next constant, `plainValues`, has the keywords whose value is plain data without schemas.
 */
const schemaMaps = new Set(["properties", "patternProperties", "dependentSchemas"]);
const plainValues = new Set(["const", "default", "enum", "examples", "required", "dependentRequired"]);

/**
 * Checks that validating a value with a private toolkit's schema takes at most time proportional to schema size times value size. Records
 * every error, for nested schemas too.
 */
export function checkTenantSchema(file: DefinitionFile, path: FaultPath, node: unknown): void {
  if (Array.isArray(node)) {
    node.forEach((child, index) => {
      checkTenantSchema(file, [...path, index], child);
    });
  }
  if (!isObject(node)) return;
  checkKeywords(file, path, node);
  for (const [keyword, child] of Object.entries(node)) {
    if (plainValues.has(keyword)) continue;
    // The names in this map are property names, not keywords: a property may be named "properties" or "$ref".
    if (schemaMaps.has(keyword) && isObject(child)) {
      for (const [name, schema] of Object.entries(child)) checkTenantSchema(file, [...path, keyword, name], schema);
    } else if (!keyword.startsWith("$")) {
      checkTenantSchema(file, [...path, keyword], child);
    }
  }
}

function checkKeywords(file: DefinitionFile, path: FaultPath, node: JsonSchema): void {
  // Reports an error for each keyword that begins with `$`, except `$comment`. A reference could make a schema endless. Identifiers and
  // anchors are useless without references.
  for (const keyword of Object.keys(node).filter((name) => name.startsWith("$") && name !== "$comment")) {
    file.fault([...path, keyword], "is in a private definition", "write the schema out where it is used");
  }
  if (node["x-host"] === true) {
    const cure = "remove it: only a deployment's host takes arguments";
    file.fault([...path, "x-host"], "is in a private definition", cure);
  }
  if (node.uniqueItems === true && !holdsScalars(node)) {
    const cure = "give items a type of string, number, integer or boolean";
    file.fault([...path, "uniqueItems"], "compares every two items of the list", cure);
  }
  for (const pattern of isObject(node.patternProperties) ? Object.keys(node.patternProperties) : []) {
    checkPattern(file, [...path, "patternProperties", pattern], pattern);
  }
  if (typeof node.pattern === "string") checkPattern(file, [...path, "pattern"], node.pattern);
}

function checkPattern(file: DefinitionFile, path: FaultPath, pattern: string): void {
  const form = parseLinearRegExp(pattern);
  if ("fault" in form) file.fault(path, form.fault, "write it without look-around and back references");
}

/**
 * True if a list's items are scalars (texts, numbers, booleans, null). Duplicates among scalars are found with a table. False for other
 * items, because they would be compared in pairs.
 */
function holdsScalars({ items }: JsonSchema): boolean {
  if (!isObject(items) || items.type === undefined) return false;
  return [items.type].flat().every((type) => type !== "object" && type !== "array");
}
