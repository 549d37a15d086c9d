import { type Action, isSensitiveAt, type JsonSchema } from "@svc/catalog";
import { formatValue, isObject } from "@svc/core";
import type { Check } from "../../check/context.ts";
import { examineWithConstants } from "../../check/examine-template.ts";
import { checkSensitiveArguments } from "../../check/sensitive.ts";
import type { JsonValue, Path } from "../../json.ts";
import { kindText } from "../../read/name.ts";
import type { ShapeNode, ShapeReader } from "../../read/shape.ts";
import { meantField } from "../../read/shape-words.ts";
import { readValue } from "../../read/value.ts";
import { meantForm } from "../../read/value-advice.ts";
import { brokenTemplate, entriesOf, objectOf, type ValueTemplate } from "../../template.ts";
import { examine } from "../../types/examine.ts";
import { fieldType, filledIn, namesOf, typesOf } from "../../types/schema-type.ts";
import type { Scope } from "../../types/scope.ts";

/** Reads the arguments of a call. Returns empty arguments if the field is absent. */
export function readArgs(node: ShapeNode, reader: ShapeReader): ValueTemplate {
  const none = { kind: "literal", value: {} } as const;
  if (node.value === undefined || reader.object(node) === undefined) return none;
  const isWhole =
    isObject(node.value) && ["$cel", "$literal"].some((name) => Object.hasOwn(node.value as object, name));
  const args = isWhole ? undefined : readValue(node, reader.faults);
  if (args?.kind === "object" || args?.kind === "literal") return args;
  const message = "is a reference as a whole; give each argument its own value";
  reader.faults.add("PROGRAM_MALFORMED", node.path, message, 'write {"<argument>": {"$ref": "path"}}');
  return none;
}

/** The arguments of one call to check. */
export type ArgumentCheck = {
  readonly args: ValueTemplate;
  readonly action: Action;
  readonly path: Path;
  /** Names of arguments that svc itself adds to the call if the program does not give them. */
  readonly given: readonly string[];
};

/** Maximum number of faults that are reported for the arguments of one call. */
const faultsMax = 100;

/** Checks the arguments that a program gives to a tool call against the tool's input schema. Records every fault. */
export function checkArguments({ args, action, path, given }: ArgumentCheck, scope: Scope, check: Check): void {
  const { inputSchema, idempotency } = action;
  const free = action.class === "destructive" ? checkConfirm(args, action, path, check) : args;
  checkSensitiveArguments({ args: free, inputSchema, path }, scope, check);
  const keyed = idempotency?.argument === undefined ? [] : [idempotency.argument];
  const whole = (template: ValueTemplate) => {
    return filledIn(withGiven(template, [...given, ...keyed], inputSchema), inputSchema);
  };
  const { faults, filled } = examineWithConstants(free, scope, {
    examined: (template, examiner) => examine(whole(template), inputSchema, examiner).faults,
    validator: (schema) => check.validator(action, schema),
  });
  check.faults.omit(Math.max(0, faults.length - faultsMax));
  for (const { path: at, message, isYounger } of faults.slice(0, faultsMax)) {
    const [name] = at;
    const isDefault = name !== undefined && !entriesOf(args)?.some(([entry]) => entry === name);
    const given = isDefault ? undefined : valueAtTemplate(args, at);
    const text = isDefault
      ? `${name}, with its default, ${message}`
      : toldOf(message, given, { filled: valueAtTemplate(filled, at), isSensitive: isSensitiveAt(inputSchema, at) });
    const mended = mendedOf(given, message) ?? mendedName(action, at, message);
    const known = hintOf(action, at);
    const hint = mended === undefined ? known : `${mended}${mended.endsWith("?") ? "" : ";"} ${known}`;
    const found = ["PROGRAM_ARGUMENT_INVALID", [...path, ...at], text, hint] as const;
    if (isYounger) check.faults.addYounger(...found);
    else check.faults.add(...found);
  }
}

/**
 * Returns the message about an argument with a wrong value. The message says what kind of value it is, and from which reference it comes.
 * It shows the value itself only if the value is written in the program and is not sensitive.
 */
function toldOf(
  message: string,
  given: ValueTemplate | undefined,
  { filled, isSensitive }: { readonly filled: ValueTemplate | undefined; readonly isSensitive: boolean },
): string {
  if (filled?.kind !== "literal" || given === undefined || given.kind === "object" || given.kind === "list")
    return message;
  if (given.kind === "reference" && /^must (?!not have the property)/.test(message))
    return `${given.reference.text} is ${kindText(filled.value)}, and ${message}`;
  const isOfValue = /^must (?:be|match|have (?!required)|not have (?:more|fewer))/.test(message);
  const isShown = given.kind === "literal" && !isSensitive && !(isObject(filled.value) || Array.isArray(filled.value));
  return isOfValue ? `is ${isShown ? formatValue(filled.value) : kindText(filled.value)}, and ${message}` : message;
}

/**
 * Checks the confirmation of a destructive call, and returns the arguments without it. The program must contain the confirmation as a
 * constant, so that a value that is only known at run time cannot decide it.
 */
function checkConfirm(args: ValueTemplate, { slug }: Action, path: Path, { faults }: Check): ValueTemplate {
  const entries = entriesOf(args) ?? [];
  const confirm = entries.find(([name]) => name === "confirm")?.[1];
  if (confirm?.kind !== "literal" || confirm.value !== true) {
    const message = confirm === undefined ? "lacks confirm" : "has a confirm that is not the literal true";
    const at = confirm === undefined ? path : [...path, "confirm"];
    faults.add("PROGRAM_CONFIRM_MISSING", at, `${slug} is destructive and ${message}`, 'write "confirm": true');
  }
  return { kind: "object", entries: entries.filter(([name]) => name !== "confirm") };
}

/**
 * Returns the arguments with a placeholder for each required argument that svc itself sets at run time. So the check does not report these
 * arguments as missing.
 */
function withGiven(args: ValueTemplate, names: readonly string[], { required }: JsonSchema): ValueTemplate {
  const entries = entriesOf(args) ?? [];
  const missing = names.filter((name) => {
    return Array.isArray(required) && required.includes(name) && !entries.some(([entry]) => entry === name);
  });
  return objectOf([...entries, ...missing.map((name) => [name, brokenTemplate] as const)]);
}

/** Returns the part of the arguments at a path, or undefined if the path leads to nothing. */
function valueAtTemplate(template: ValueTemplate, path: Path): ValueTemplate | undefined {
  let at: ValueTemplate | undefined = template;
  for (const step of path) {
    if (at?.kind === "literal") {
      const value: unknown = at.value;
      const inner =
        Array.isArray(value) || isObject(value) ? (value as Readonly<Record<string, JsonValue>>)[step] : undefined;
      at = inner === undefined ? undefined : { kind: "literal", value: inner };
    } else if (at?.kind === "list") at = at.items[Number(step)];
    else at = at?.kind === "object" ? at.entries.find(([name]) => name === step)?.[1] : undefined;
  }
  return at;
}

/** Returns a hint how to convert a value to the type that the tool expects. Returns undefined if no conversion is known. */
function mendedOf(found: ValueTemplate | undefined, message: string): string | undefined {
  if (found?.kind === "reference" && message.endsWith(", not string")) {
    return `write {"$text": "{${found.reference.text}}"} for its text`;
  }
  if (found?.kind === "computed" && message.endsWith(", not string")) {
    return `write ${JSON.stringify({ $cel: `string(${found.expression.source})` })} for its text`;
  }
  if (found?.kind !== "literal") return undefined;
  const { value } = found;
  if (message === "must be string" && typeof value !== "object") return 'write it in quotes, such as "4711"';
  if (message === "must be string" && meantForm(value) !== undefined) return `write ${meantForm(value)}`;
  if (message === "must be array" && value !== null && typeof value !== "object") return "put it into a list: […]";
  if (typeof value !== "string") return undefined;
  const isNumber = /^must be (?:integer|number)$/.test(message) && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value);
  const isFlag = message === "must be boolean" && /^(?:true|false)$/i.test(value);
  return isNumber || isFlag ? "write it without quotes" : undefined;
}

/** Returns the name of the argument that was probably meant instead of an unknown one. Returns undefined if no name is similar. */
function mendedName(action: Action, path: Path, message: string): string | undefined {
  const name = path.at(-1);
  if (
    typeof name !== "string" ||
    path.length !== 1 ||
    !message.startsWith("must not have the property") ||
    message.includes("did you mean")
  )
    return undefined;
  const meant = meantField(name, namesOf(action.inputSchema));
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

function hintOf(action: Action, path: Path): string {
  let schema: unknown = action.inputSchema;
  for (const step of path) {
    const field = isObject(schema)
      ? fieldType(schema, /^\d+$/.test(String(step)) ? Number(step) : step)
      : { fault: "" };
    schema = "type" in field ? field.type : undefined;
    if ("fault" in field) break;
  }
  if (path.length > 0 && isObject(schema) && typeof schema.description === "string") {
    return described(schema.description);
  }
  return `${action.slug} takes ${argumentsText(action.inputSchema)}`;
}

const describedMax = 300;

/** Returns a description as part of a sentence, without its final period. */
function described(description: string): string {
  const text = description.replaceAll(/\s+/g, " ").trim();
  return text.length > describedMax ? `${text.slice(0, describedMax).toWellFormed()} …` : text.replace(/\.$/, "");
}

/** Maximum number of values of an enum that a hint lists. */
const valuesMax = 8;

/** Returns a text about the arguments of a tool for a hint: their names and types, and which are required. */
function argumentsText(schema: JsonSchema): string {
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  const named = namesOf(schema).map((name) => {
    const type = typeText(properties[name]);
    const notes = [...(type === "" ? [] : [type]), ...(required.includes(name) ? ["required"] : [])];
    return notes.length === 0 ? name : `${name} (${notes.join(", ")})`;
  });
  return named.join(", ") || "no arguments";
}

function typeText(schema: unknown): string {
  if (!isObject(schema)) return "";
  if (Array.isArray(schema.enum) && schema.enum.length <= valuesMax) {
    return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(" | ")}`;
  }
  return [...(typesOf(schema) ?? [])].join(" or ");
}
