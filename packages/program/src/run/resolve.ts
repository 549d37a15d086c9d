import { formatValue, isObject, isRawJson, scalarText } from "@svc/core";
import { type JsonObject, type JsonValue, type Path, pointerOf } from "../json.ts";
import {
  type DeclaredResult,
  type Expression,
  expressionsOf,
  type Reference,
  type TextTemplate,
  type ValueTemplate,
} from "../template.ts";
import type { CelComputed } from "./evaluator.ts";

/**
 * The values that references can use at a place of a program during its run. A name that has no value there is absent, for example `row`
 * outside of a `map` step.
 */
export type RunScope = {
  readonly input: JsonObject;
  readonly params: JsonObject;
  /** Values of finished steps, by id. Skipped steps are not included. */
  readonly steps?: JsonObject;
  readonly row?: JsonObject;
  /** Answers of earlier calls for the same row of a `map` step, by the id of the call. */
  readonly calls?: JsonObject;
  /** The answer of the call that is being undone. Absent outside of undo calls. */
  readonly output?: JsonValue;
  /** Number of rows that each step has made, by the step's id. 0 for a skipped step. */
  readonly rows?: Readonly<Record<string, number>>;
  /** Time when the current step began, in milliseconds since 1970. It stays the same if the action of the step is repeated. */
  readonly now?: number;
  /** Values of the expressions in a template. They were computed before the template is filled in. */
  readonly computed?: Computed;
};

/** The values of expressions that were computed before a template is filled in. The key is the parsed expression. */
export type Computed = ReadonlyMap<Expression, JsonValue>;

/** The reason why a value cannot be filled in. `message`: names paths and types, and never quotes data. */
export type ResolveFault = {
  readonly code: "REFERENCE_ABSENT" | "REFERENCE_UNFIT" | "EXPRESSION_FAILED" | "EXPRESSION_TOO_EXPENSIVE";
  readonly pointer: string;
  readonly message: string;
};

/** Result of filling values into a template: the resulting value, or the fault that prevents it. */
export type Resolution<T> = { readonly value: T } | { readonly fault: ResolveFault };

/**
 * Returns the template with its references replaced by values. Returns a fault if a value is absent and has no replacement (`else`), or
 * cannot be part of a text.
 */
export function resolveValue(template: ValueTemplate, scope: RunScope): Resolution<JsonValue> {
  switch (template.kind) {
    case "literal":
      return { value: template.value };
    case "reference": {
      const value = lookUp(template.reference, scope);
      if (value !== undefined && value !== null) return { value };
      return template.otherwise ?? { fault: absent(template.reference) };
    }
    case "text": {
      const resolved = resolveText(template, scope);
      const isAbsent = "fault" in resolved && resolved.fault.code === "REFERENCE_ABSENT";
      return isAbsent ? (template.otherwise ?? resolved) : resolved;
    }
    case "secret":
      // Placeholder for a secret. The sender replaces it with the secret's value when the call is sent.
      return { value: "***" };
    case "computed": {
      const value = scope.computed?.get(template.expression);
      if (value === undefined) throw new Error(`${template.expression.pointer} was not computed`);
      return { value };
    }
    case "list": {
      const items: JsonValue[] = [];
      for (const item of template.items) {
        const resolved = resolveValue(item, scope);
        if ("fault" in resolved) return resolved;
        items.push(resolved.value);
      }
      return { value: items };
    }
    case "object": {
      const entries: [string, JsonValue][] = [];
      for (const [name, item] of template.entries) {
        const resolved = resolveValue(item, scope);
        if ("fault" in resolved) return resolved;
        entries.push([name, resolved.value]);
      }
      return { value: Object.fromEntries(entries) };
    }
  }
}

/**
 * Computes the expressions of templates, one after another, so that `resolveValue` can use them. Returns a fault at the first expression
 * without a value. Returns an empty map if there are no expressions.
 */
export async function computeExpressions(
  templates: readonly ValueTemplate[],
  compute: (expression: Expression) => Promise<CelComputed>,
): Promise<Resolution<Computed | undefined>> {
  const expressions = templates.flatMap(expressionsOf);
  if (expressions.length === 0) return { value: undefined };
  const computed = new Map<Expression, JsonValue>();
  for (const expression of expressions) {
    const found = await compute(expression);
    if ("error" in found) {
      const code = found.isTooExpensive === true ? "EXPRESSION_TOO_EXPENSIVE" : "EXPRESSION_FAILED";
      return { fault: { code, pointer: expression.pointer, message: `$cel ${found.error}, at ${expression.pointer}` } };
    }
    computed.set(expression, found.value);
  }
  return { value: computed };
}

/** Fills values into the arguments of a call. */
export function resolveArguments(args: ValueTemplate, scope: RunScope): Resolution<JsonObject> {
  const resolved = resolveValue(args, scope);
  if ("fault" in resolved) return resolved;
  return { value: isObject(resolved.value) ? resolved.value : {} };
}

/**
 * Maximum number of characters of a text after values were filled in. A few thousand long values could otherwise make a text that does not
 * fit into stored JSON.
 */
const textCharactersMax = 1_048_576;

/**
 * Fills values into a text: a question, or a `$text` of the program. Returns an error if a value is absent or null and its placeholder has
 * no `else` (a replacement value), or if the text becomes too long.
 */
export function resolveText(
  { parts }: TextTemplate,
  scope: RunScope,
  otherwise?: (absent: Reference) => string,
): Resolution<string> {
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const value = lookUp(part, scope);
    if (value === undefined || value === null) {
      if (otherwise === undefined) return { fault: absentInText(part) };
      text += otherwise(part);
      continue;
    }
    const scalar = scalarText(value);
    if (scalar === undefined) {
      const message = `${part.text} is ${Array.isArray(value) ? "a list" : "an object"}, which cannot be part of a text`;
      return { fault: { code: "REFERENCE_UNFIT", pointer: part.pointer, message } };
    }
    text += scalar;
    if (text.length > textCharactersMax) return { fault: tooLong(part) };
  }
  return { value: text };
}

/**
 * Returns the declared result of a program: each name with its value. A value must be a text, number, boolean or null; otherwise a fault is
 * returned. A reference that leads to no value becomes null.
 */
export function resolveResult(result: DeclaredResult, scope: RunScope): Resolution<JsonObject> {
  const entries: [string, JsonValue][] = [];
  for (const [name, template] of result) {
    const resolved = resolveValue(template, scope);
    const isAbsent = "fault" in resolved && resolved.fault.code === "REFERENCE_ABSENT";
    if ("fault" in resolved && !isAbsent) return resolved;
    const value = "fault" in resolved ? null : resolved.value;
    if (value !== null && scalarText(value) === undefined) {
      const message = `result ${formatValue(name)} is not a text, number, boolean or null`;
      return { fault: { code: "REFERENCE_UNFIT", pointer: pointerOf(["result", name]), message } };
    }
    entries.push([name, value]);
  }
  return { value: Object.fromEntries(entries) };
}

function lookUp({ root, path }: Reference, scope: RunScope): JsonValue | undefined {
  return valueAt(scope[root], path);
}

/** Returns the value at a path inside a JSON value. Returns undefined if the path leads to nothing. */
export function valueAt(value: JsonValue | undefined, path: Path): JsonValue | undefined {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null || isRawJson(current)) return undefined;
    if (!Object.hasOwn(current, step)) return undefined;
    if (Array.isArray(current) !== (typeof step === "number")) return undefined;
    current = (current as Readonly<Record<string | number, JsonValue>>)[step];
  }
  return current;
}

function tooLong({ text, pointer }: Reference): ResolveFault {
  const message = `with ${text} the text has more than ${textCharactersMax.toLocaleString("en-US")} characters`;
  return { code: "REFERENCE_UNFIT", pointer, message };
}

function absentInText({ text, pointer }: Reference): ResolveFault {
  const message = `${text} is absent or null; add else next to $text, or use $cel and has()`;
  return { code: "REFERENCE_ABSENT", pointer, message };
}

function absent({ text, pointer }: Reference): ResolveFault {
  return { code: "REFERENCE_ABSENT", pointer, message: `${text} is absent; add else` };
}
