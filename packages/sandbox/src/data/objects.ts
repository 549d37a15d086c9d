import type { Action, Toolkit } from "@svc/catalog";
import { type AnyObject, itemsOf, propertiesOf, typesOf } from "../app/refusal.ts";
import type { Facts } from "./facts.ts";
import { isList, type Layout, layoutOf, type ResultPlace } from "./layout.ts";
import { plausibleScalar, uuidOf } from "./plausible.ts";
import { type Kind, roleOf, type ToolRole } from "./roles.ts";
import { digestOf, type Seed } from "./seed.ts";
import type { ShownObject } from "./shown.ts";
import type { Shelf, StoredObject } from "./store.ts";
import { plainName } from "./words.ts";

/**
 * Returns the kind of the objects that a tool is about, such as `issue`. If no tool of the app takes an id of such an object, the kind is
 * made from the words in the tool's name.
 */
export function kindOf({ kind, noun }: ToolRole): Kind {
  return kind ?? { name: noun.join("_"), words: noun, idArguments: new Set(), scopeArguments: [] };
}

/**
 * Returns the place in the store for the objects that a call is about. Ids of such objects can be unique only within a parent object, such
 * as a repository. The call's arguments name this parent, so they are part of the place.
 */
export function shelfOf(toolkit: Toolkit, kind: Kind, args: AnyObject): Shelf {
  const scope = kind.scopeArguments.map((name) => String(args[name] ?? ""));
  return { app: `${toolkit.ownerProjectId}/${toolkit.slug}`, kind: kind.name, scope: JSON.stringify(scope) };
}

/**
 * Returns an object of an emulated app in the form in which answers show it. Fields that are not in `facts` (the known values) are made up
 * from the id. So a list and a call for the single object show the same values.
 */
export function show(shelf: Shelf, id: string | number, facts: Facts, stored?: StoredObject): ShownObject {
  let seed: Seed | undefined;
  return {
    id,
    facts,
    // The seed is computed only when it is read. A list may have thousands of rows, and only the rows of one page need a seed.
    get seed() {
      seed ??= digestOf(shelf.app, shelf.kind, shelf.scope, String(id));
      return seed;
    },
    isMade: stored?.state === "made",
    madeMs: stored?.madeMs,
    changedMs: stored?.changedMs,
  };
}

/** Returns a made-up id in the form that its field needs (a text or a number). */
export function madeUpId(schema: AnyObject, idField: string, owner: string, seed: Seed): string | number {
  const types = typesOf(schema);
  if (types.length > 0 && !types.includes("string")) {
    return Number(plausibleScalar({ schema, path: [idField], owner, seed, options: [] }));
  }
  if (idField === "uri" || schema["format"] === "uuid") return uuidOf(seed, [idField]);
  if (/name$/i.test(idField)) return `${owner.replaceAll("_", "-")}-${digestOf(seed, "name").slice(0, 6)}`;
  return String(plausibleScalar({ schema: { type: "string" }, path: ["id"], owner, seed, options: [] }));
}

/** Returns the position of a list's objects in the result. */
export function rowPlace({ place, inside }: NonNullable<Layout["list"]>): ResultPlace {
  return [...place, "*", ...(inside === undefined ? [] : [inside])];
}

/** Returns the part of a tool's output schema that describes the value at a position (`place`) of the output. */
export function schemaAt(schema: AnyObject, place: ResultPlace): AnyObject {
  return place.reduce<AnyObject>((held, step) => {
    return step === "*" ? itemsOf(held) : (new Map(propertiesOf(held)).get(step) ?? {});
  }, schema);
}

/** A field of an object. It contains one value or a list of values. */
export type Field = { readonly path: readonly string[]; readonly schema: AnyObject };

/**
 * The fields of all objects of one kind. The key is the field's path in lower case without separators. For example, the key `assigneeid` is
 * the field `assignee.id`.
 */
export type ObjectFields = ReadonlyMap<string, Field>;

const depthMax = 4;
const knownFields = new WeakMap<Toolkit, Map<string, ObjectFields>>();

/**
 * Returns the fields of the objects in a list, combined from all tools that return such objects. A filter of the list may use a field that
 * only the tool for a single object shows.
 */
export function fieldsOf(toolkit: Toolkit, action: Action): ObjectFields {
  let known = knownFields.get(toolkit);
  if (known === undefined) {
    known = new Map();
    knownFields.set(toolkit, known);
  }
  const role = roleOf(toolkit, action);
  const key = role.kind?.name ?? `${action.name}()`;
  let fields = known.get(key);
  if (fields === undefined) {
    fields = findFields(toolkit, action, role);
    known.set(key, fields);
  }
  return fields;
}

function findFields(toolkit: Toolkit, own: Action, { kind }: ToolRole): ObjectFields {
  const fields = new Map<string, Field>();
  const others = kind === undefined ? [own] : toolkit.actions.filter((other) => roleOf(toolkit, other).kind === kind);
  // Tools that read a single object come first, because their answers show the most fields of an object.
  const isRead = (action: Action) => Number(roleOf(toolkit, action).verb === "read");
  for (const action of others.toSorted((a, b) => isRead(b) - isRead(a))) {
    const role = roleOf(toolkit, action);
    const { entity, list } = layoutOf(action, role);
    if (role.verb === "list" && list !== undefined)
      addFields(fields, schemaAt(action.outputSchema, rowPlace(list)), []);
    else if (role.verb === "read" && entity !== undefined)
      addFields(fields, schemaAt(action.outputSchema, entity.place), []);
  }
  return fields;
}

function addFields(fields: Map<string, Field>, schema: AnyObject, path: readonly string[]): void {
  for (const [name, child] of propertiesOf(schema)) {
    const own = [...path, name];
    const isHolder = propertiesOf(child).length > 0;
    if (isHolder && own.length < depthMax) addFields(fields, child, own);
    const isValue = !isHolder && (isList(child) || !typesOf(child).includes("object"));
    const plain = own.map(plainName).join("");
    if (isValue && !fields.has(plain)) fields.set(plain, { path: own, schema: child });
  }
}

/** The sort order of a list: its field, and whether the greatest value comes first (`isDescending`). */
export type Order = { readonly field: Field; readonly isDescending: boolean };
