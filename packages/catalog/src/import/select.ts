import { isObject } from "@svc/core";
import { ImportError } from "./import-fault.ts";
import { type DocumentNode, ExternalReferenceError, type OpenapiDocument, resolved } from "./read.ts";
import { listOf, objectOf } from "./schema.ts";
import { globOf, plainText, textOf } from "./texts.ts";

/** Maximum entries of each of the lists `only`, `except` and `overrides` of an import request. */
export const entriesMax = 1_000;
/** Maximum bytes of all options of an import together, as JSON: they are stored, and read again with the source of the toolkit. */
export const optionsBytesMax = 262_144;

/** A method of HTTP that a tool may have. */
export type OperationMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * An operation of an OpenAPI document. `item`: the document's object for the operation's path. It may have parameters and servers that
 * apply to all operations of this path.
 */
export type Operation = {
  readonly method: OperationMethod;
  readonly path: string;
  readonly item: DocumentNode;
  readonly node: DocumentNode;
  readonly tags: readonly string[];
};

/**
 * An operation that does not become a tool. `operation`: method and path. `reason`: one word, such as `deprecated`. For the reason
 * `flagged`: `name` is the name that the tool would have, and `description` the suspicious text as the source has it.
 */
export type LeftOut = {
  readonly operation: string;
  readonly reason: string;
  readonly name?: string;
  readonly description?: string;
};

/**
 * The operations of an OpenAPI document that the caller selected, and those that were left out. `count`: number of all operations of the
 * document.
 */
export type Selection = {
  readonly operations: readonly Operation[];
  readonly leftOut: readonly LeftOut[];
  readonly count: number;
};

/** Maximum operations that a report lists one by one as left out. */
const leftOutMax = 1_000;

/**
 * Returns the left-out operations as a report lists them, with shortened paths. If there are very many, the list has the first of them
 * (suspicious ones before all others), and then one entry for each reason with the number of further operations.
 */
export function listedLeftOut(leftOut: readonly LeftOut[]): readonly LeftOut[] {
  const isLong = leftOut.length > leftOutMax;
  const isFlagged = ({ reason }: LeftOut) => Number(reason === "flagged");
  const sorted = isLong ? leftOut.toSorted((a, b) => isFlagged(b) - isFlagged(a)) : leftOut;
  const listed = sorted
    .slice(0, leftOutMax)
    .map((one) => (one.operation.length <= 300 ? one : { ...one, operation: plainText(one.operation, 300) }));
  if (!isLong) return listed;
  const further = new Map<string, number>();
  for (const { reason } of sorted.slice(leftOutMax)) further.set(reason, (further.get(reason) ?? 0) + 1);
  return [...listed, ...[...further].map(([reason, count]) => ({ operation: `${count} further operations`, reason }))];
}

const methods = ["get", "post", "put", "patch", "delete"];
const otherMethods = ["head", "options", "trace", "query"];

/**
 * Yields the operations of a path with their methods in upper case. `isKnown`: true if a tool can have the method. OpenAPI 3.2 has further
 * methods under `additionalOperations`.
 */
function* nodesOf(item: DocumentNode): Generator<{ name: string; node: DocumentNode; isKnown: boolean }> {
  for (const method of [...methods, ...otherMethods]) {
    const node = item[method];
    if (isObject(node)) yield { name: method.toUpperCase(), node, isKnown: methods.includes(method) };
  }
  for (const [name, node] of Object.entries(objectOf(item["additionalOperations"]))) {
    if (isObject(node)) yield { name: plainText(name, 40), node, isKnown: false };
  }
}

/**
 * Returns the operations of a document that become tools. `only`: if not empty, the tags, or methods with paths (`GET /pets*`), of the
 * operations to take. `except`: those to leave out. Throws ImportError if no operation is selected.
 */
export function selectOperations(
  { root }: OpenapiDocument,
  { only, except }: { readonly only: readonly string[]; readonly except: readonly string[] },
): Selection {
  const operations: Operation[] = [];
  const leftOut: LeftOut[] = [];
  let count = 0;
  const isWanted = wantedBy(only, except);
  for (const [path, given] of Object.entries(objectOf(root["paths"]))) {
    if (!path.startsWith("/")) continue;
    const item = itemOf(root, given);
    if (item === "external") {
      count++;
      leftOut.push({ operation: path, reason: "external_ref" });
      continue;
    }
    for (const { name, node, isKnown } of nodesOf(item)) {
      const operation = `${name} ${path}`;
      count++;
      const tags = listOf(node["tags"]).map(textOf);
      if (!isWanted(operation, tags)) continue;
      const reason = node["deprecated"] === true ? "deprecated" : isKnown ? undefined : "method";
      if (reason !== undefined) leftOut.push({ operation, reason });
      else operations.push({ method: name as OperationMethod, path, item, node, tags });
    }
  }
  if (operations.length === 0) throw nothingSelected(count, leftOut);
  return { operations, leftOut, count };
}

function itemOf(root: DocumentNode, given: unknown): DocumentNode | "external" {
  try {
    return resolved(root, given);
  } catch (error) {
    if (error instanceof ExternalReferenceError) return "external";
    throw error;
  }
}

function wantedBy(only: readonly string[], except: readonly string[]) {
  const matcherOf = (pattern: string) => {
    const isMeant = globOf(pattern.trim());
    const isOperation = /^(?:[A-Za-z]+|\*) +\//.test(pattern.trim()) || pattern.trim().startsWith("*");
    return (operation: string, tags: readonly string[]) =>
      (isOperation && isMeant(operation)) || tags.some((tag) => isMeant(tag));
  };
  const [wanted, unwanted] = [only.map(matcherOf), except.map(matcherOf)];
  return (operation: string, tags: readonly string[]) =>
    (wanted.length === 0 || wanted.some((isMeant) => isMeant(operation, tags))) &&
    !unwanted.some((isMeant) => isMeant(operation, tags));
}

function nothingSelected(count: number, leftOut: readonly LeftOut[]): ImportError {
  const reasons = [...new Set(leftOut.map(({ reason }) => reason))].join(", ");
  const why =
    leftOut.length === 0
      ? `only and except select none of its operations (${count})`
      : `${leftOut.length} of its operations are left out (${reasons})`;
  const problem = `the document has ${count === 0 ? "no operation" : `nothing to import: ${why}`}`;
  const advice = "Select tags, or operations such as GET /pets*.";
  return new ImportError("OPENAPI_NOTHING_SELECTED", problem, advice, count === 0 ? "openapi" : "only");
}
