import type { Toolkit } from "@svc/catalog";
import { itemsOf, type JsonObject, propertiesOf, typesOf } from "../app/json.ts";
import type { Facts } from "./facts.ts";
import type { Layout, Place } from "./layout.ts";
import { plausibleScalar, uuidOf } from "./plausible.ts";
import type { Kind, Role } from "./roles.ts";
import { digestOf, type Seed } from "./seed.ts";
import type { Shown } from "./shown.ts";
import type { Shelf, StoredObject } from "./store.ts";

/** The kind of a tool's objects; of a noun that no tool names by an id, a kind that only its lists know. */
export function kindOf({ kind, noun }: Role): Kind {
  return kind ?? { name: noun.join("_"), words: noun, idArguments: new Set(), scopeArguments: [] };
}

/** Where the objects of a kind are kept that a call with these arguments is about. */
export function shelfOf(toolkit: Toolkit, kind: Kind, args: JsonObject): Shelf {
  const scope = kind.scopeArguments.map((name) => String(args[name] ?? ""));
  return { app: `${toolkit.ownerProjectId}/${toolkit.slug}`, kind: kind.name, scope: JSON.stringify(scope) };
}

/** Fields that nobody spoke of follow from the id, so that a list and a get show the same object. */
export function show(shelf: Shelf, id: string | number, facts: Facts, stored?: StoredObject): Shown {
  let seed: Seed | undefined;
  return {
    id,
    facts,
    // Of the thousands that a list may have, it shows a page: the others need none.
    get seed() {
      seed ??= digestOf(shelf.app, shelf.kind, shelf.scope, String(id));
      return seed;
    },
    isMade: stored?.state === "made",
    madeMs: stored?.madeMs,
    changedMs: stored?.changedMs,
  };
}

/** A made-up id in the form of the field that shows it. */
export function madeUpId(schema: JsonObject, idField: string, owner: string, seed: Seed): string | number {
  const types = typesOf(schema);
  if (types.length > 0 && !types.includes("string")) {
    return Number(plausibleScalar({ schema, path: [idField], owner, seed, options: [] }));
  }
  if (idField === "uri" || schema["format"] === "uuid") return uuidOf(seed, [idField]);
  if (/name$/i.test(idField)) return `${owner.replaceAll("_", "-")}-${digestOf(seed, "name").slice(0, 6)}`;
  return String(plausibleScalar({ schema: { type: "string" }, path: ["id"], owner, seed, options: [] }));
}

/** Where the objects of a list stand in the result. */
export function rowPlace({ place, inside }: NonNullable<Layout["list"]>): Place {
  return [...place, "*", ...(inside === undefined ? [] : [inside])];
}

/** The part of a schema that stands at a place of the result. */
export function schemaAt(schema: JsonObject, place: Place): JsonObject {
  return place.reduce<JsonObject>((held, step) => {
    return step === "*" ? itemsOf(held) : (new Map(propertiesOf(held)).get(step) ?? {});
  }, schema);
}
