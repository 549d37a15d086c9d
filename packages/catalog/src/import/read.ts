import { upgrade } from "@scalar/openapi-upgrader";
import { isObject, measureJson } from "@svc/core";
import { load } from "js-yaml";
import { ImportError } from "./import-fault.ts";
import { textOf } from "./texts.ts";

/** A JSON object of an OpenAPI document. */
export type DocumentNode = { readonly [key: string]: unknown };

/** An OpenAPI document in the form of version 3.1. `version`: the version that the document had before, such as `OpenAPI 3.0.3`. */
export type OpenapiDocument = { readonly root: DocumentNode; readonly version: string };

/** Maximum characters of an OpenAPI document in JSON. `yamlMax` is the lower maximum for YAML, which takes longer to read. */
const jsonMax = 16_777_216;
const yamlMax = 4_194_304;
/** Maximum number of JSON values in an OpenAPI document, at all levels. Each use of a YAML alias counts as a copy of its value. */
const valuesMax = 2_000_000;
const depthMax = 200;

/** Returns the OpenAPI document of a text in JSON or YAML. Throws ImportError if svc cannot read it, or if it is too large. */
export function readDocument(text: string): OpenapiDocument {
  const isJson = /^[\s\ufeff]*\{/.test(text);
  const given = isJson ? readJson(text) : readYaml(text);
  if (!isObject(given)) throw unreadable("the document is not an object", "Send an OpenAPI document in JSON or YAML.");
  const ignoresSiblings = !/^3\.[12]/.test(textOf(given["openapi"]));
  // JSON has no aliases, so that no object occurs twice.
  const value = isJson ? cleaned(given, ignoresSiblings) : copyOf(given, ignoresSiblings);
  const version = versionOf(value);
  return { root: upgraded(value), version };
}

function unreadable(problem: string, advice: string): ImportError {
  return new ImportError("OPENAPI_UNREADABLE", problem, advice);
}

function tooLarge(problem: string): ImportError {
  return new ImportError("IMPORT_TOO_COSTLY", problem, "Split the document, or send only the paths that you need.");
}

function readJson(text: string): unknown {
  if (text.length > jsonMax) throw tooLarge(`the document has ${text.length} characters; JSON may have ${jsonMax}`);
  const { values, depth } = measureJson(text, valuesMax);
  if (values > valuesMax) throw tooLarge(`the document has more than ${valuesMax} values`);
  if (depth > depthMax) throw tooLarge(`the document is nested deeper than ${depthMax} levels`);
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw unreadable(`the document is not JSON (${messageOf(error)})`, "Send the text of the document unchanged.");
  }
}

function readYaml(text: string): unknown {
  if (text.length > yamlMax) throw tooLarge(`the document has ${text.length} characters; YAML may have ${yamlMax}`);
  try {
    return load(text, { maxDepth: depthMax });
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw unreadable(`the document is not YAML (${messageOf(error)})`, "Send the text of the document unchanged.");
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n")[0] ?? "").slice(0, 200) : String(error).slice(0, 200);
}

/**
 * Returns a copy of a document in which every object occurs only once. The later conversion to OpenAPI 3.1 changes objects in place, so an
 * object must not be shared. Members named `__proto__` are left out, and before OpenAPI 3.1, members next to a `$ref`
 * (`ignoresSiblings`). Counts the values before copying, so that YAML aliases cannot produce a huge copy.
 */
function copyOf(value: DocumentNode, ignoresSiblings: boolean): DocumentNode {
  if (countOf(value, new Map(), 0) > valuesMax) throw tooLarge(`the document has more than ${valuesMax} values`);
  const copy = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(copy);
    if (!isObject(node)) return typeof node === "bigint" ? Number(node) : node;
    if (ignoresSiblings && typeof node["$ref"] === "string") return { $ref: node["$ref"] };
    return Object.fromEntries(
      Object.entries(node).flatMap(([key, child]) => (key === "__proto__" ? [] : [[key, copy(child)]])),
    );
  };
  return copy(value) as DocumentNode;
}

/** Members whose value is a list of such maps, or of values that have no examples. */
const listsOfNames = ["security", "enum"];

/** Members whose value maps names to parts of a document or to values, so that a member `example` of the value is a name. */
const namedParts = new Set([
  ..."properties patternProperties $defs definitions dependentSchemas dependentRequired schemas parameters".split(" "),
  ..."responses headers requestBodies paths pathItems webhooks callbacks links encoding securitySchemes".split(" "),
  ..."securityDefinitions mapping scopes variables default const".split(" "),
  ...listsOfNames,
]);

/**
 * Returns a document in which no object occurs twice without the members that `copyOf` leaves out, and without its examples. These are not
 * read, and make up most of a large document. Changes the document in place, because a copy of it would need as much memory again.
 */
function cleaned(document: DocumentNode, ignoresSiblings: boolean): DocumentNode {
  const clean = (node: object, name: string): object => {
    const members = node as Record<string, unknown>;
    const { $ref } = members;
    if (ignoresSiblings && typeof $ref === "string") return { $ref };
    if (Object.hasOwn(members, "__proto__")) Reflect.deleteProperty(members, "__proto__");
    const isListOfNames = Array.isArray(node) && listsOfNames.includes(name);
    for (const key of Object.keys(members)) {
      const child = members[key];
      if ((key === "example" || key === "examples") && !namedParts.has(name)) Reflect.deleteProperty(members, key);
      else if (typeof child === "object" && child !== null) members[key] = clean(child, isListOfNames ? name : key);
    }
    return node;
  };
  return clean(document, "") as DocumentNode;
}

/**
 * Returns the number of JSON values inside a value, including the value itself. Each use of a YAML alias counts again. `known`: the counts
 * of objects seen before; 0 for an object whose own count is not finished.
 */
function countOf(value: unknown, known: Map<object, number>, depth: number): number {
  if (typeof value !== "object" || value === null) return 1;
  const before = known.get(value);
  if (before === 0) throw unreadable("the document has an alias inside of its own anchor", "Write the value out.");
  if (before !== undefined) return before;
  if (depth > depthMax) throw tooLarge(`the document is nested deeper than ${depthMax} levels`);
  known.set(value, 0);
  let count = 1;
  for (const child of Object.values(value)) count += countOf(child, known, depth + 1);
  known.set(value, count);
  return count;
}

function versionOf({ swagger, openapi }: DocumentNode): string {
  if (openapi !== undefined) return checkedVersion("OpenAPI", textOf(openapi), /^3\.[0-2](?:\.|$)/);
  if (swagger !== undefined)
    return checkedVersion("Swagger", textOf(swagger) === "2" ? "2.0" : textOf(swagger), /^2\.0/);
  throw unreadable("the document has neither openapi nor swagger", "Send an OpenAPI document (2.0, 3.0, 3.1 or 3.2).");
}

function checkedVersion(name: string, version: string, allowed: RegExp): string {
  if (allowed.test(version)) return `${name} ${version.slice(0, 10)}`;
  throw unreadable(
    `the document is ${name} ${version.slice(0, 20)}`,
    "svc reads Swagger 2.0, OpenAPI 3.0, 3.1 and 3.2.",
  );
}

function upgraded(document: DocumentNode): DocumentNode {
  const exact = { ...document, ...(document["openapi"] !== undefined && { openapi: textOf(document["openapi"]) }) };
  if (/^3\.[12]/.test(textOf(document["openapi"]))) return exact;
  try {
    return upgrade(
      { ...exact, ...(document["swagger"] !== undefined && { swagger: "2.0" }) },
      "3.1",
    ) as unknown as DocumentNode;
  } catch (error) {
    throw unreadable(`the document cannot be read as OpenAPI (${messageOf(error)})`, "Check it with a validator.");
  }
}

/** Error for a reference that leads out of the document. Nothing but the document is ever read. */
export class ExternalReferenceError extends Error {
  override name = "ExternalReferenceError";
}

const hopsMax = 50;

/**
 * Returns the object that a value stands for: the value itself, or the target of its `$ref`. Returns an empty object if the value or the
 * target is not an object. Throws ExternalReferenceError if a reference leads out of the document.
 */
export function resolved(root: DocumentNode, value: unknown): DocumentNode {
  let node = value;
  for (let hop = 0; hop < hopsMax && isObject(node) && typeof node["$ref"] === "string"; hop++) {
    node = targetOf(root, node["$ref"]);
  }
  return isObject(node) && typeof node["$ref"] !== "string" ? node : {};
}

/** Keywords that describe a value without limiting it. Next to a `$ref`, each replaces that of the target (OpenAPI 3.1). */
const annotations = ["title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "example"];

/**
 * Returns the target of a `$ref`. If the object with the `$ref` also has a title, a description or a similar keyword, this keyword replaces
 * the target's. Returns the target unchanged if `given` is not a reference, or has no such keyword.
 */
export function withSiblings(given: unknown, target: DocumentNode): DocumentNode {
  if (!isObject(given) || typeof given["$ref"] !== "string") return target;
  const own = annotations.filter((keyword) => given[keyword] !== undefined);
  if (own.length === 0) return target;
  return { ...target, ...Object.fromEntries(own.map((keyword) => [keyword, given[keyword]])) };
}

/** Values at the references of a document that were looked up before, by reference. A document of some MiB repeats each of them often. */
const knownTargets = new WeakMap<DocumentNode, Map<string, unknown>>();

/** Returns the value at a reference such as `#/components/schemas/Pet`; undefined if there is none. */
function targetOf(root: DocumentNode, reference: string): unknown {
  const known = knownTargets.get(root) ?? new Map<string, unknown>();
  knownTargets.set(root, known);
  if (!known.has(reference)) known.set(reference, lookedUp(root, reference));
  return known.get(reference);
}

function lookedUp(root: DocumentNode, reference: string): unknown {
  if (!reference.startsWith("#")) throw new ExternalReferenceError(reference.slice(0, 100));
  // `#pet` is the name of an anchor, not a path. Without this check, it would refer to the whole document.
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  let node: unknown = root;
  for (const step of reference.split("/").slice(1)) {
    const name = unescaped(step);
    node = typeof node === "object" && node !== null && Object.hasOwn(node, name) ? Reflect.get(node, name) : undefined;
  }
  return node;
}

function unescaped(step: string): string {
  const plain = step.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    // The name contains a percent sign that begins no escape.
    return plain;
  }
}
