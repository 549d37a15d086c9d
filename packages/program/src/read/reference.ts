import { formatValue, isObject } from "@svc/core";
import { type JsonObject, type JsonValue, type Path, pointerOf } from "../json.ts";
import {
  brokenTemplate,
  objectOf,
  type Reference,
  type ReferenceRoot,
  type TextTemplate,
  type ValueTemplate,
} from "../template.ts";
import { kindText } from "./name.ts";

/** The reason why a text is not a valid reference, template or path. */
export type SyntaxFault = { readonly fault: string };

/** Names with which a reference may begin. For example, the reference `steps.fetch.id` begins with `steps`. */
export const referenceRoots: ReadonlySet<string> = new Set([
  "input",
  "params",
  "steps",
  "row",
  "output",
  "calls",
  "rows",
] satisfies ReferenceRoot[]);

const pathPattern = /^[^.[\]{}\s"]+(?:\.[^.[\]{}\s"]+|\[\d{1,6}\])*$/;

/**
 * Returns the members of a path such as `data[-1].id`, where -1 means the last item of a list. Returns undefined if the text is not a path.
 */
export function parseTokenPath(text: string): Path | undefined {
  const plain = text.replaceAll("[-1]", "[0]");
  const path = parsePath(plain);
  if (path === undefined || plain === text) return path;
  return (text.match(/[^.[\]]+|\[-?\d+\]/g) ?? []).map((step) =>
    step.startsWith("[") ? Number(step.slice(1, -1)) : step,
  );
}

/** Returns the members of a path such as `items[0].id`, or undefined if the text is not a path. */
export function parsePath(text: string): Path | undefined {
  if (text.length > 512 || !pathPattern.test(text)) return undefined;
  return (text.match(/[^.[\]]+|\[\d+\]/g) ?? []).map((step) =>
    step.startsWith("[") ? Number(step.slice(1, -1)) : step,
  );
}

/** Parses a reference: the text of a `$ref`, or the text between braces in a `$text`. */
function parseReference(text: string, pointer: string): Reference | SyntaxFault {
  const [root, ...path] = parsePath(text) ?? [];
  if (root === undefined) {
    const bare = text.replaceAll(/^\s*\$?\{+\s*\$?\.?|\s*\}+\s*$/g, "");
    if (bare !== text && parsePath(bare) !== undefined) {
      return { fault: `${formatValue(text)} is not a path; write ${formatValue(bare)}` };
    }
    return { fault: `${formatValue(text)} is not a path such as steps.fetch.items[0].id` };
  }
  if (typeof root === "string" && /^\$?secrets?$/i.test(root)) {
    return {
      fault: `${formatValue(text)} is not a path: write a secret by itself, as {"$secret": "<name>", "prefix": "Bearer "}`,
    };
  }
  if (typeof root !== "string" || !referenceRoots.has(root)) {
    const bare = text.replaceAll(/^\$?\{*\$?\.?|\}+$/g, "");
    const [first] = bare === text ? [] : (parsePath(bare) ?? []);
    if (typeof first === "string" && referenceRoots.has(first)) {
      return { fault: `${formatValue(text)} is not a path; write ${formatValue(bare)}` };
    }
    return { fault: `${formatValue(text)} does not start with one of ${[...referenceRoots].join(", ")}` };
  }
  const needsName = root === "steps" || root === "calls" || root === "rows" || root === "row";
  if (needsName && typeof path[0] !== "string") {
    return { fault: `${formatValue(text)} has no name after ${root}` };
  }
  if (root === "rows" && path.length > 1) {
    return { fault: `${formatValue(text)} has more after the set's name, but rows.<set> is a number` };
  }
  return { text, root: root as ReferenceRoot, path, pointer };
}

/**
 * Parses a `$text` value. Returns the parsed text or its syntax fault. `{path}` is a reference. `{{` stands for the character `{`. A `}`
 * outside of a reference is an ordinary character.
 */
export function parseText(text: string, pointer: string): TextTemplate | SyntaxFault {
  const parts: (string | Reference)[] = [];
  let literal = "";
  let at = 0;
  for (let open = text.indexOf("{"); open >= 0; open = text.indexOf("{", at)) {
    literal += text.slice(at, open);
    if (text[open + 1] === "{") {
      literal += "{";
      at = open + 2;
      continue;
    }
    const close = text.indexOf("}", open);
    if (close < 0) return { fault: `has a brace at character ${open + 1} that is not closed` };
    const reference = parseReference(text.slice(open + 1, close).trim(), pointer);
    if ("fault" in reference) return reference;
    if (literal !== "") parts.push(literal);
    literal = "";
    parts.push(reference);
    at = close + 1;
  }
  literal += text.slice(at);
  if (literal !== "") parts.push(literal);
  return { kind: "text", parts };
}

/**
 * Called for each fault in a template (a value with references), with the path of the faulty part, the kind of fault, its message, and the
 * faulty value.
 */
export type OnTemplateFault = (
  path: Path,
  kind: "shape" | "syntax",
  message: string,
  found?: JsonValue | undefined,
) => void;

/** Parses a JSON value that may contain `$ref`, `$text`, `$secret`, `$cel` and `$literal` objects. A faulty part becomes brokenTemplate. */
export function parseTemplate(value: JsonValue, path: Path, onFault: OnTemplateFault): ValueTemplate {
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map((item, index) => {
      return parseTemplate(item, [...path, index], onFault);
    });
    return listOf(items, value);
  }
  if (!isObject(value)) return { kind: "literal", value };
  if (Object.hasOwn(value, "$ref")) return parseReferenceObject(value, path, onFault);
  if (Object.hasOwn(value, "$text")) return parseTextObject(value, path, onFault);
  if (Object.hasOwn(value, "$secret")) return parseSecretObject(value, path, onFault);
  if (Object.hasOwn(value, "$cel")) return parseComputed(value, path, onFault);
  if (Object.hasOwn(value, "$literal")) {
    const isAlone = hasOnly(value, ["$literal"], path, onFault);
    return isAlone ? { kind: "literal", value: value.$literal ?? null } : brokenTemplate;
  }
  const entries = Object.entries(value).map(([name, item]) => {
    return [name, parseTemplate(item, [...path, name], onFault)] as const;
  });
  const isAsItIs = entries.every(([name, item]) => item.kind === "literal" && item.value === value[name]);
  return isAsItIs ? { kind: "literal", value } : objectOf(entries);
}

/**
 * Returns a template of a list, or a literal if all items are literals. The literal is the given list itself, unless an item uses
 * `$literal`.
 */
function listOf(items: readonly ValueTemplate[], value: readonly JsonValue[]): ValueTemplate {
  const values: JsonValue[] = [];
  for (const item of items) {
    if (item.kind !== "literal") return { kind: "list", items };
    values.push(item.value);
  }
  return { kind: "literal", value: values.every((item, index) => item === value[index]) ? value : values };
}

function parseComputed(object: JsonObject, path: Path, onFault: OnTemplateFault): ValueTemplate {
  const isAlone = hasOnly(object, ["$cel"], path, onFault);
  const source = object.$cel;
  if (typeof source !== "string" || source === "") {
    onFault([...path, "$cel"], "shape", `is ${kindText(source)}, not a CEL expression`, source);
    return brokenTemplate;
  }
  return isAlone ? { kind: "computed", expression: { source, pointer: pointerOf([...path, "$cel"]) } } : brokenTemplate;
}

function parseReferenceObject(object: JsonObject, path: Path, onFault: OnTemplateFault): ValueTemplate {
  const before = hasOnly(object, ["$ref", "else"], path, onFault);
  const text = object.$ref;
  if (typeof text !== "string") {
    onFault([...path, "$ref"], "shape", `is ${kindText(text)}, not the text of a path`, text);
    return brokenTemplate;
  }
  const reference = parseReference(text, pointerOf([...path, "$ref"]));
  if ("fault" in reference) {
    onFault([...path, "$ref"], "syntax", reference.fault, text);
    return brokenTemplate;
  }
  const otherwise = parseElse(object, path, onFault);
  return before && otherwise !== "faulty" ? { kind: "reference", reference, otherwise } : brokenTemplate;
}

/**
 * Parses the field `else`, the replacement for an absent value. Returns undefined if the field `else` is absent, and "faulty" if it
 * contains a reference.
 */
function parseElse(
  object: JsonObject,
  path: Path,
  onFault: OnTemplateFault,
): { readonly value: JsonValue } | undefined | "faulty" {
  if (object.else === undefined) return undefined;
  const value = meant(object.else);
  if (!holdsTemplate(value)) return { value };
  onFault([...path, "else"], "shape", "contains a reference, but else is used unchanged");
  return "faulty";
}

/** Returns the value of the field `else` in a reference. An object with only the field `$literal` stands for the content of `$literal`. */
function meant(value: JsonValue): JsonValue {
  if (!isObject(value) || !Object.hasOwn(value, "$literal") || Object.keys(value).length > 1) return value;
  return value.$literal ?? null;
}

function parseTextObject(object: JsonObject, path: Path, onFault: OnTemplateFault): ValueTemplate {
  const isAlone = hasOnly(object, ["$text", "else"], path, onFault);
  const text = object.$text;
  if (typeof text !== "string") {
    onFault([...path, "$text"], "shape", `is ${kindText(text)}, not a text`, text);
    return brokenTemplate;
  }
  const template = parseText(text, pointerOf([...path, "$text"]));
  if ("fault" in template) {
    onFault([...path, "$text"], "syntax", template.fault, text);
    return brokenTemplate;
  }
  const otherwise = parseElse(object, path, onFault);
  if (!isAlone || otherwise === "faulty") return brokenTemplate;
  return otherwise === undefined ? template : { ...template, otherwise };
}

/** The allowed form of secret names. The vault in packages/core has the same rule. */
const secretName = /^[a-z][a-z0-9_-]{0,59}$/;
const prefixMax = 100;

function parseSecretObject(object: JsonObject, path: Path, onFault: OnTemplateFault): ValueTemplate {
  const isAlone = hasOnly(object, ["$secret", "prefix"], path, onFault);
  const { $secret: name, prefix = "" } = object;
  if (typeof name !== "string" || !secretName.test(name)) {
    onFault([...path, "$secret"], "shape", "is not the name of a secret, such as billing_token");
    return brokenTemplate;
  }
  if (typeof prefix !== "string" || prefix.length > prefixMax) {
    onFault([...path, "prefix"], "shape", `is not a text of at most ${prefixMax} characters, such as "Bearer "`);
    return brokenTemplate;
  }
  return isAlone ? { kind: "secret", name, prefix } : brokenTemplate;
}

function hasOnly(object: JsonObject, names: readonly string[], path: Path, onFault: OnTemplateFault): boolean {
  const others = Object.keys(object).filter((name) => !names.includes(name));
  for (const name of others)
    onFault([...path, name], "shape", `is next to ${names[0]}, where only ${names.join(" and ")} are allowed`);
  return others.length === 0;
}

function holdsTemplate(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isObject(value) && ["$ref", "$text", "$cel", "$secret"].some((name) => Object.hasOwn(value, name))) return true;
  return Object.values(value).some((item: JsonValue) => holdsTemplate(item));
}
