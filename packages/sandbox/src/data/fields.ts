import type { Action, Toolkit } from "@svc/catalog";
import { type JsonObject, propertiesOf, typesOf } from "../app/json.ts";
import { isList, layoutOf } from "./layout.ts";
import { rowPlace, schemaAt } from "./objects.ts";
import { type Role, roleOf } from "./roles.ts";
import { plainName } from "./words.ts";

/** A field of an object that holds one value or a list of values. */
export type Field = { readonly path: readonly string[]; readonly schema: JsonObject };

/** The fields of a kind by their plain path, as facts are: `assigneeid` is `assignee.id`. */
export type Fields = ReadonlyMap<string, Field>;

const depthMax = 4;
const knownFields = new WeakMap<Toolkit, Map<string, Fields>>();

/**
 * The fields that the objects of a list have, as all tools show them that answer such objects: a list may be asked for by a field that
 * only the tool for one object shows.
 */
export function fieldsOf(toolkit: Toolkit, action: Action): Fields {
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

function findFields(toolkit: Toolkit, own: Action, { kind }: Role): Fields {
  const fields = new Map<string, Field>();
  const others = kind === undefined ? [own] : toolkit.actions.filter((other) => roleOf(toolkit, other).kind === kind);
  // What reads one object says most of it.
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

function addFields(fields: Map<string, Field>, schema: JsonObject, path: readonly string[]): void {
  for (const [name, child] of propertiesOf(schema)) {
    const own = [...path, name];
    const isHolder = propertiesOf(child).length > 0;
    if (isHolder && own.length < depthMax) addFields(fields, child, own);
    const isValue = !isHolder && (isList(child) || !typesOf(child).includes("object"));
    const plain = own.map(plainName).join("");
    if (isValue && !fields.has(plain)) fields.set(plain, { path: own, schema: child });
  }
}
