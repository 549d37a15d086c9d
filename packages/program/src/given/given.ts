import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { createTenantValidators, type JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import { checkExpression } from "../check/expression.ts";
import type { FaultList } from "../faults.ts";
import { type JsonObject, type JsonValue, type Path, pathOf } from "../json.ts";
import { parseExpression } from "../read/cel-calls.ts";
import { childrenOf, type NodePath, pathOfNode } from "../read/cel-tree.ts";
import { parseTemplate } from "../read/reference.ts";
import type { ShapeNode } from "../read/shape.ts";
import { type Resolution, resolveValue } from "../run/resolve.ts";
import { type Expression, referencesOf, type ValueTemplate } from "../template.ts";
import { examine, type TemplateFault } from "../types/examine.ts";
import { fieldType, filledIn, typesOf, type ValueType } from "../types/schema-type.ts";
import { firstScope, resolveType, type Scope } from "../types/scope.ts";

/**
 * True if the field at a path may be absent. This is so if an object on the path declares which fields are required, and the next field of
 * the path is not one of them.
 */
function mayLack(type: ValueType, path: Path): boolean {
  let current = type;
  for (const step of path) {
    const { required, properties } = current ?? {};
    if (Array.isArray(required) && isObject(properties) && Object.hasOwn(properties, step) && !required.includes(step))
      return true;
    const field = fieldType(current, step);
    if ("fault" in field) return false;
    current = field.type;
  }
  return false;
}

/**
 * A template (a value with references) that is filled with values from outside a program, such as the time that starts the program. `scope`:
 * the names that the template can use.
 */
export type GivenTemplate = { readonly template: ValueTemplate; readonly scope: Scope };

/**
 * Reads a template whose values come from outside a program. `type`: the object type of these values. `asksElse`: true if a value that may
 * be absent needs a replacement (`else`). Returns undefined only if the template is absent.
 */
export function readGiven(
  { value, path }: ShapeNode,
  type: JsonSchema,
  faults: FaultList,
  asksElse = false,
): GivenTemplate | undefined {
  if (value === undefined) return undefined;
  const names = Object.keys(isObject(type.properties) ? type.properties : {}).join(", ");
  const hint = `write {"$ref": "path"} or {"$text": "… {path} …"}; paths start with ${names}`;
  const moved = underInput(value, path, (at) =>
    faults.add("PROGRAM_MALFORMED", at, "is an expression, and expressions are allowed only in programs", hint),
  );
  const template = parseTemplate(moved, path, (at, kind, message) => {
    faults.add(kind === "shape" ? "PROGRAM_MALFORMED" : "PROGRAM_REFERENCE_INVALID", at, asGiven(message), hint);
  });
  const scope = firstScope({ inputSchema: type, input: {}, params: {} }, { ids: new Set(), hints: noHints });
  for (const { reference, path: at, hasElse, isInText } of referencesOf(template)) {
    const found = resolveType(scope, reference);
    const named = asGiven(reference.text);
    const types = "fault" in found ? undefined : typesOf(found.type);
    const younger = (message: string, cure: string) =>
      faults.addYounger("PROGRAM_REFERENCE_INVALID", [...path, ...at], `${named}: ${message}`, cure);
    if ("fault" in found) {
      faults.add("PROGRAM_REFERENCE_INVALID", [...path, ...at], `${named}: ${asGiven(found.fault)}`, hint);
    } else if (isInText && types !== undefined && [...types].every((name) => name === "object" || name === "array")) {
      younger(
        `is ${[...types].join(" or ")}, which cannot be part of a text`,
        "name a field of it that is a text, number or boolean",
      );
    } else if (asksElse && !hasElse && mayLack(type, reference.path)) {
      const form = isInText ? `{"$text": "… {${named}} …", "else": "…"}` : `{"$ref": "${named}", "else": …}`;
      younger("may be absent, and then no run starts", `add an else: ${form}`);
    }
  }
  return { template, scope };
}

/** Compares a template (a value with references) with a schema, and returns the faults. Only the types of the references are compared. */
export function examineGiven({ template, scope }: GivenTemplate, schema: JsonSchema): readonly TemplateFault[] {
  const validators = createTenantValidators();
  const { faults } = examine(filledIn(template, schema), schema, {
    typeOf(part) {
      if (part.kind === "computed") return undefined;
      const found = resolveType(scope, part.reference);
      return "fault" in found ? undefined : found.type;
    },
    validator: (part) => validators(part),
  });
  return faults;
}

/**
 * Fills the given values into a template and returns the result. Returns an error if a placeholder of the template has no suitable value.
 */
export function fillGiven({ template }: GivenTemplate, given: JsonObject): Resolution<JsonValue> {
  const filled = resolveValue(template, { input: given, params: {} });
  if (!("fault" in filled)) return filled;
  return { fault: { ...filled.fault, message: asGiven(filled.fault.message) } };
}

const noHints = { values: "", sets: "", rows: "", expressionRows: "" };

/** Returns the template with `input.` added before each path. Calls `onExpression` for each expression. */
function underInput(value: JsonValue, path: Path, onExpression: (path: Path) => void): JsonValue {
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).map((item, index) => underInput(item, [...path, index], onExpression));
  }
  if (!isObject(value)) return value;
  const object = value as JsonObject;
  if (Object.hasOwn(object, "$literal")) return object;
  if (Object.hasOwn(object, "$cel")) {
    onExpression([...path, "$cel"]);
    return null;
  }
  if (typeof object.$ref === "string") return { ...object, $ref: `input.${object.$ref}` };
  if (typeof object.$text === "string") return { ...object, $text: textUnderInput(object.$text) };
  const entries = Object.entries(object).map(([name, item]) => [name, underInput(item, [...path, name], onExpression)]);
  return Object.fromEntries(entries) as JsonObject;
}

/**
 * Returns the text with `input.` added to each path in braces (`{name}` becomes `{input.name}`). `{{` means one literal brace and does not
 * change.
 */
function textUnderInput(text: string): string {
  return text.replace(/\{\{|\{\s*/g, (brace) => (brace === "{{" ? brace : "{input."));
}

/**
 * Removes the prefix `input.` from names in an error message. svc adds this prefix so that it can check the values like a program's input;
 * the author did not write it.
 */
function asGiven(message: string): string {
  return message.replace(/\binput\.(?=[a-z])/g, "").replace(/^input /, "what is given ");
}

/** The known type of each given value, by name. Given values come from outside a program, for example the time that starts it. */
export type GivenTypes = ReadonlyMap<string, ValueType>;

/**
 * Checks a condition that uses values from outside a program. The rules are those for expressions in a program. Records every fault. When
 * the condition is evaluated later, the values must have the names in `given`.
 */
export function checkGivenExpression(expression: Expression, given: GivenTypes, faults: FaultList): void {
  const scope = firstScope(
    { inputSchema: {}, input: {}, params: {} },
    { ids: new Set(), hints: { values: "", sets: "", rows: "", expressionRows: "" } },
  );
  checkExpression(expression, { ...scope, given }, faults);
  const parsed = parseExpression(expression.source);
  if ("fault" in parsed) return;
  const paths = pathsOf(parsed.tree);
  const asked = new Set(paths.filter(({ isTest }) => isTest).map(textOf));
  for (const named of paths) {
    const { root, path, isTest } = named;
    // Index of the first member of the path that may be absent; -1 if there is none. Paths inside `has()` also get -1, because they may be
    // absent. So do paths of rows (`row`), because tools seldom declare which fields always exist.
    const lacked =
      isTest || root === "row"
        ? -1
        : path.findIndex((_step, index) => mayLack(given.get(root), path.slice(0, index + 1)));
    const text = textOf({ ...named, path: path.slice(0, lacked + 1) });
    if (lacked < 0 || [...asked].some((one) => one === text || one.startsWith(`${text}.`))) continue;
    const message = `${text} may be absent, and then no run starts`;
    const hint = `check has(${text}) first: has(${text}) && …`;
    faults.addYounger("PROGRAM_EXPRESSION_INVALID", pathOf(expression.pointer), message, hint);
  }
}

function pathsOf(node: Expr): readonly NodePath[] {
  const path = pathOfNode(node);
  return path === undefined ? childrenOf(node).flatMap(pathsOf) : [path];
}

function textOf({ root, path }: NodePath): string {
  return [root, ...path].join(".");
}
