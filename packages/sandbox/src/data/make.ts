import { isObject, isRawJson } from "@svc/core";
import { itemsOf, type JsonObject, propertiesOf, readScalar, typesOf } from "../app/json.ts";
import { type Facts, sayOf } from "./facts.ts";
import { isList, type Layout, type Place } from "./layout.ts";
import { plausibleScalar } from "./plausible.ts";
import type { Kind } from "./roles.ts";
import type { Seed } from "./seed.ts";

/** An object to show: what is said of it, and the seed of everything else. */
export type Shown = {
  readonly id: string | number | undefined;
  readonly seed: Seed;
  readonly facts: Facts;
  /** Whether a call made it. */
  readonly isMade?: boolean;
};

/** What a result is made from. */
export type Plan = {
  readonly seed: Seed;
  readonly kind: Kind | undefined;
  /** What the objects are called, for names without a hint of their own. */
  readonly noun: string;
  /** Values that the app is known to take for a field, by its name. */
  readonly optionsFor: (name: string) => readonly unknown[];
  /** The value of a field that another object has, such as the name of an assignee; undefined where there is no such object. */
  readonly refer: (field: { owner: string; shown: Shown; path: readonly string[]; schema: JsonObject }) => unknown;
  /** What the call said, heard outside the objects that the sandbox knows. */
  readonly facts: Facts;
  readonly layout: Layout;
  readonly entity: Shown | undefined;
  readonly items: readonly Shown[] | undefined;
  /** Values of the page that stand around a list, such as its total or its next token. An undefined value leaves its field out. */
  readonly page: (path: Place, schema: JsonObject) => { readonly value: unknown } | undefined;
};

type Here = {
  readonly plan: Plan;
  readonly place: Place;
  /** Names from the object that is being made, where facts are looked up. */
  readonly path: readonly string[];
  readonly shown: Shown;
  readonly kind: Kind | undefined;
  readonly idField: string | undefined;
  readonly budget: { left: number };
};

/** Items of a list that nobody asked for. */
const innerItems = 2;
const depthMax = 12;
/** Values made for one answer. A definition's lists inside lists multiply. */
const valuesMax = 50_000;

/** Objects around the one of interest: a field of theirs is spoken of by its own name. */
const envelopes = new Set(["data", "result", "resource", "response", "report", "node", "payload"]);

/** A result of a schema, made up but for what the plan knows. */
export function makeResult(schema: JsonObject, plan: Plan): unknown {
  const shown: Shown = { id: undefined, seed: plan.seed, facts: plan.facts };
  const budget = { left: valuesMax };
  return make(schema, { plan, place: [], path: [], shown, kind: undefined, idField: undefined, budget });
}

function make(schema: JsonObject, here: Here): unknown {
  const { plan, place } = here;
  here.budget.left -= 1;
  const paged = plan.page(place, schema);
  if (paged !== undefined) return paged.value;
  const { entity, list } = plan.layout;
  if (plan.entity !== undefined && entity !== undefined && isSame(entity.place, place) && here.shown !== plan.entity) {
    const { idField } = entity;
    return make(schema, { ...here, path: [], shown: plan.entity, kind: plan.kind, idField });
  }
  if (list !== undefined && plan.items !== undefined && isSame(list.place, place)) {
    return plan.items.map((shown) => makeItem(schema, { ...here, shown, kind: plan.kind, idField: list.idField }));
  }
  if (isList(schema)) return makeList(schema, here);
  const types = typesOf(schema);
  if (types.includes("array") && /^(?:vector|embedding)$/.test(place.at(-1) ?? ""))
    return said(schema, here) ?? [0.12, -0.5, 0.31, 0.08];
  if (types.includes("object") || propertiesOf(schema).length > 0) return makeObject(schema, here);
  if (types.includes("array")) return makeList(schema, here);
  return said(schema, here) ?? scalar(schema, here.path, here);
}

function makeItem(schema: JsonObject, here: Here): unknown {
  const items = isObject(schema["items"]) ? itemsOf(schema) : { type: "object" };
  return make(items, { ...here, place: [...here.place, "*"], path: [] });
}

function makeList(schema: JsonObject, here: Here): unknown {
  const { plan, place } = here;
  const known = isOnTheWay(place, plan) ? undefined : said(schema, here);
  if (known !== undefined) return known;
  const { items, minItems } = schema;
  if (here.budget.left <= 0 || (!isObject(items) && !isOnTheWay(place, plan))) return [];
  const least = typeof minItems === "number" ? Math.min(minItems, 100) : 0;
  const count = isOnTheWay(place, plan) ? 1 : Math.max(innerItems, least);
  return Array.from({ length: count }, (_item, index) => {
    const path = isOnTheWay(place, plan) ? here.path : [...here.path, String(index)];
    return make(itemsOf(schema), { ...here, place: [...place, "*"], path });
  });
}

function makeObject(schema: JsonObject, here: Here): unknown {
  const properties = propertiesOf(schema);
  const isRoot = here.path.length === 0;
  if (properties.length === 0) return makeOpen(schema, here);
  if (here.place.length > depthMax || here.budget.left <= 0) return {};
  const made = properties.flatMap(([name, child]) => {
    if (isRoot && name === here.idField) return [[name, idOf(child, name, here)] as const];
    const isEnvelope =
      isRoot && here.idField === undefined && here.shown.seed === here.plan.seed && envelopes.has(name);
    const path = isEnvelope ? [] : [...here.path, name];
    const value = make(child, { ...here, place: [...here.place, name], path });
    if (value !== undefined) return [[name, value] as const];
    return Array.isArray(schema["required"]) && schema["required"].includes(name) ? [[name, null] as const] : [];
  });
  return Object.fromEntries(made);
}

/** An object whose fields nobody declared: what was said of it, else an id and a name, as most objects have. */
function makeOpen(schema: JsonObject, here: Here): unknown {
  const { path, shown, idField } = here;
  if (path.length === 0 && idField !== undefined) {
    const whole = wholeOf(shown.facts, here.kind);
    return { ...whole, ...(whole[idField] === undefined && { [idField]: idOf({ type: "string" }, idField, here) }) };
  }
  const known = path.length === 0 ? undefined : said(schema, here);
  if (known !== undefined) return known;
  const value = (name: string) => scalar({ type: "string" }, [...path, name], here);
  return { id: value("id"), name: value("name") };
}

/** An object that is stored as it was sent stands whole in the argument that bears its kind's name. */
function wholeOf(facts: Facts, kind: Kind | undefined): JsonObject {
  const whole = kind && (facts[kind.words.join("")] ?? facts[kind.words.at(-1) ?? ""]);
  return isObject(whole) ? whole : {};
}

function said(schema: JsonObject, { shown, path }: Here): unknown {
  return path.length === 0 ? undefined : sayOf(shown.facts, path, schema);
}

/** The id in the form of its field: a number, a text, or an address that ends with it. */
function idOf(schema: JsonObject, name: string, here: Here): unknown {
  const { id } = here.shown;
  if (id === undefined) return scalar(schema, [name], here);
  if (name === "uri") return String(id).includes("://") ? id : `https://api.example.com/${ownerOf(here)}/${id}`;
  const types = typesOf(schema);
  if (types.includes("string") || types.length === 0) return String(id);
  const read = readScalar(String(id), { type: "integer" });
  return Number.isSafeInteger(read) || isRawJson(read) ? read : scalar(schema, [name], here);
}

function scalar(schema: JsonObject, path: readonly string[], here: Here): unknown {
  return madeUp(here.plan, { schema, path, owner: ownerOf(here), shown: here.shown });
}

/** The value of a field that nobody spoke of. */
export function madeUp(
  { optionsFor, refer }: Pick<Plan, "optionsFor" | "refer">,
  { schema, path, owner, shown }: { schema: JsonObject; path: readonly string[]; owner: string; shown: Shown },
): unknown {
  const options = optionsFor(path.at(-1) ?? "");
  const isNew = shown.isMade === true;
  return (
    refer({ owner, shown, path, schema }) ?? plausibleScalar({ schema, path, owner, seed: shown.seed, options, isNew })
  );
}

function ownerOf({ kind, plan }: Here): string {
  return kind?.name ?? plan.noun;
}

function isSame(a: Place, b: Place): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}

/** Whether a list stands around what the call is about: then it has that one item. */
function isOnTheWay(place: Place, { layout, entity, items }: Plan): boolean {
  const targets = [entity && layout.entity?.place, items && layout.list?.place];
  return targets.some((target) => {
    return (
      target !== undefined &&
      target.length > place.length &&
      target[place.length] === "*" &&
      isSame(target.slice(0, place.length), place)
    );
  });
}
