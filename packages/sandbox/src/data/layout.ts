import type { Action } from "@svc/catalog";
import { isObject } from "@svc/core";
import { type AnyObject, itemsOf, propertiesOf, typesOf } from "../app/refusal.ts";
import type { Kind, ToolRole } from "./roles.ts";
import { plainName, singularOf, wordsOf } from "./words.ts";

/** A position in a result: the property names from the root. `*` stands for the items of a list. */
export type ResultPlace = readonly string[];

/** Positions of the objects and lists that the sandbox (apps that svc plays itself) fills in when it makes up a tool's result. */
export type Layout = {
  /**
   * The object that the call is about. `place`: path of the object in the result; empty for the whole result. Undefined if the result does
   * not show the object.
   */
  readonly entity: { readonly place: ResultPlace; readonly idField: string | undefined } | undefined;
  /**
   * Place in the result of a list. `inside`: the property of each item that contains the listed object, if the items have other data too.
   */
  readonly list:
    | { readonly place: ResultPlace; readonly idField: string | undefined; readonly inside?: string | undefined }
    | undefined;
};

type Node = { readonly place: ResultPlace; readonly schema: AnyObject };

const depthMax = 6;
const nodesMax = 2000;

/** Returns every object and list of a schema, less deeply nested ones first. At the same depth, the order of declaration counts. */
function nodesOf(schema: AnyObject): Node[] {
  const nodes: Node[] = [{ place: [], schema }];
  for (let index = 0; index < nodes.length && nodes.length < nodesMax; index++) {
    const { place, schema: own } = nodes[index] ?? { place: [], schema: {} };
    if (place.length >= depthMax) continue;
    if (isList(own)) {
      nodes.push({ place: [...place, "*"], schema: itemsOf(own) });
      continue;
    }
    for (const [name, child] of propertiesOf(own)) {
      if (isList(child) || typesOf(child).includes("object")) nodes.push({ place: [...place, name], schema: child });
    }
  }
  return nodes;
}

/** True if a schema allows a list but no object. */
export function isList(schema: AnyObject): boolean {
  const types = typesOf(schema);
  return types.includes("array") && !types.includes("object");
}

/**
 * Returns where a tool's result has the object that the call is about, and where it has a list. Finds these places by the names in the
 * output schema. Each of them may be undefined.
 */
export function layoutOf({ outputSchema, paging }: Pick<Action, "outputSchema" | "paging">, role: ToolRole): Layout {
  const nodes = nodesOf(outputSchema);
  const isPaged = paging !== undefined;
  if (role.verb === "list" || role.verb === "other") {
    const list = findList(nodes, role);
    return { entity: undefined, list: isPaged ? innermost(list, nodes, role) : list };
  }
  return { entity: role.kind && findEntity(nodes, role.kind), list: isPaged ? findList(nodes, role) : undefined };
}

/** Returns the inner list if each item of the given list has only one field, and this field is a list. Otherwise returns the given list. */
function innermost(list: Layout["list"], nodes: readonly Node[], role: ToolRole): Layout["list"] {
  const items = list && nodes.find(({ place }) => isSamePlace(place, [...list.place, "*"]));
  const [only, ...others] = items === undefined ? [] : propertiesOf(items.schema);
  const isHolder = only !== undefined && others.length === 0 && isList(only[1]);
  return list !== undefined && isHolder ? placeOf([...list.place, "*", only[0]], only[1], role) : list;
}

function placeOf(place: ResultPlace, list: AnyObject, role: ToolRole): NonNullable<Layout["list"]> {
  const kind = role.kind ?? { name: "", words: role.noun, idArguments: new Set<string>(), scopeArguments: [] };
  const items = itemsOf(list);
  const idField = findIdField(items, kind);
  const [inside, schema = items] = (idField === undefined && propertiesOf(items).find(isResult)) || [];
  const isOpen = role.kind !== undefined && propertiesOf(schema).length === 0;
  const own = inside === undefined ? idField : findIdField(schema, kind);
  return { place, idField: own ?? (isOpen ? "id" : undefined), inside };
}

/** True if a property of a search result is the place for the found object (for example `item`). */
function isResult([name, schema]: readonly [string, AnyObject]): boolean {
  return /^(?:item|document|record)$/.test(name) && typesOf(schema).includes("object");
}

function isSamePlace(a: ResultPlace, b: ResultPlace): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}

function findEntity(nodes: readonly Node[], kind: Kind): Layout["entity"] {
  const objects = nodes.filter(({ schema }) => !isList(schema));
  const candidates = objects.flatMap(({ place, schema }) => {
    const idField = findIdField(schema, kind);
    return idField === undefined ? [] : [{ place, idField }];
  });
  const isNamed = ({ place }: { place: ResultPlace }) => {
    const name = plainName(place.findLast((step) => step !== "*") ?? "");
    return name === kind.words.join("") || name === kind.words.at(-1) || singularOf(name) === kind.words.join("");
  };
  const root = objects.find(({ place }) => place.length === 0);
  const isOpen = root !== undefined && propertiesOf(root.schema).length === 0;
  return (
    candidates.find(({ place }) => place.length === 0) ??
    candidates.find(isNamed) ??
    candidates[0] ??
    (isOpen ? { place: [], idField: "id" } : undefined)
  );
}

/** Returns the property that contains an object's id. Its name is one of the names by which tools take that id. */
function findIdField(schema: AnyObject, { words, idArguments }: Kind): string | undefined {
  const byName = new Map(propertiesOf(schema).map(([name]) => [plainName(name), name]));
  const names = [...idArguments, "id", "uuid", `${words.join("")}id`, `${words.at(-1)}id`];
  if ([...idArguments].some((name) => name.endsWith("name"))) names.push("name");
  if ([...idArguments].some((name) => name.endsWith("uuid"))) names.push("uri");
  return names.map((name) => byName.get(name)).find((name) => name !== undefined);
}

/**
 * Returns the list in an answer that fits the tool best. This is a list with the name of the tool's objects, otherwise usually the first
 * list.
 */
function findList(nodes: readonly Node[], role: ToolRole): Layout["list"] {
  const subjects = new Set(role.subjects.map(({ kind }) => kind.words.join("")));
  const lists = nodes.filter(({ schema }) => {
    if (!isList(schema)) return false;
    const items = schema["items"];
    return !isObject(items) || typesOf(items).length === 0 || typesOf(items).includes("object");
  });
  const found =
    lists.find((node) => isNamedFor(node, role)) ?? lists.find((node) => !subjects.has(nameOf(node))) ?? lists[0];
  return found && placeOf(found.place, found.schema, role);
}

function nameOf({ place }: Node): string {
  const words = wordsOf(place.findLast((step) => step !== "*") ?? "");
  return [...words.slice(0, -1), singularOf(words.at(-1) ?? "")].join("");
}

function isNamedFor(node: Node, { noun }: ToolRole): boolean {
  const name = nameOf(node);
  return name !== "" && noun.some((_word, index) => noun.slice(index).join("") === name);
}
