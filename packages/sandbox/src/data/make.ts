import { isObject, isRawJson } from "@svc/core";
import { type AnyObject, itemsOf, propertiesOf, readScalar, typesOf } from "../app/refusal.ts";
import { type Facts, sayOf } from "./facts.ts";
import { isList, type Layout, type ResultPlace } from "./layout.ts";
import type { ObjectFields } from "./objects.ts";
import { plausibleScalar } from "./plausible.ts";
import type { Kind } from "./roles.ts";
import type { Seed } from "./seed.ts";
import { nothing, type ShownObject } from "./shown.ts";
import { plainName } from "./words.ts";

/** The data from which an emulated app makes the result of a tool call. */
export type ResultPlan = {
  readonly seed: Seed;
  readonly kind: Kind | undefined;
  /** The name of the objects (for example `issue`). It is used for fields whose own names say nothing about their values. */
  readonly noun: string;
  /** Returns the values that the app is known to accept for a field with this name. */
  readonly optionsFor: (name: string) => readonly unknown[];
  /** The fields of the objects in the result, by their path. */
  readonly fields: ObjectFields;
  /** Latest time that made-up objects may have, in epoch milliseconds. */
  readonly baseMs: number;
  /**
   * Returns the value of a field that refers to another object (for example the name of an assignee). Returns `undefined` if the field
   * refers to no known object.
   */
  readonly refer: (field: { owner: string; shown: ShownObject; path: readonly string[]; schema: AnyObject }) => unknown;
  /** Values that follow from the call, for example a name in its arguments. They fill the fields of the answer outside its main objects. */
  readonly facts: Facts;
  readonly layout: Layout;
  readonly entity: ShownObject | undefined;
  readonly items: readonly ShownObject[] | undefined;
  /**
   * Returns the value of a field about the page of a list, such as the total. Returns undefined for any other field. `value` is undefined
   * if the answer must not have the field.
   */
  readonly page: (path: ResultPlace, schema: AnyObject) => { readonly value: unknown } | undefined;
};

type Here = {
  readonly plan: ResultPlan;
  readonly place: ResultPlace;
  /**
   * Names of the fields from the object down to the value that is being made. With these names, the sandbox looks for a known value (fact)
   * of the object.
   */
  readonly path: readonly string[];
  readonly shown: ShownObject;
  readonly kind: Kind | undefined;
  readonly idField: string | undefined;
  readonly budget: { left: number };
};

/** Number of items in lists that are not the list that the call asks for. */
const innerItems = 2;
const depthMax = 12;
/** Maximum number of values that the sandbox makes for one answer. Lists inside lists would otherwise multiply. */
const valuesMax = 50_000;

/**
 * Names of objects that only wrap the main object of a result (for example `data`). They do not occur in the names of facts (known values
 * of an object).
 */
const envelopes = new Set(["data", "result", "resource", "response", "report", "node", "payload"]);

/**
 * Returns a made-up result of a tool that fits a schema. A value comes from the plan (what the sandbox knows about the call), or is
 * invented if the plan does not contain it.
 */
export function makeResult(schema: AnyObject, plan: ResultPlan): unknown {
  const shown: ShownObject = { id: undefined, seed: plan.seed, facts: plan.facts };
  const budget = { left: valuesMax };
  return make(schema, { plan, place: [], path: [], shown, kind: undefined, idField: undefined, budget });
}

function make(schema: AnyObject, here: Here): unknown {
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
    const idField = list.inside === undefined ? list.idField : undefined;
    return plan.items.map((shown) => makeItem(schema, { ...here, shown, kind: plan.kind, idField }));
  }
  if (isList(schema)) return makeList(schema, here);
  const types = typesOf(schema);
  if (types.includes("array") && /^(?:vector|embedding)$/.test(place.at(-1) ?? ""))
    return said(schema, here) ?? [0.12, -0.5, 0.31, 0.08];
  if (types.includes("object") || propertiesOf(schema).length > 0) return makeObject(schema, here);
  if (types.includes("array")) return makeList(schema, here);
  return said(schema, here) ?? scalar(schema, here.path, here);
}

function makeItem(schema: AnyObject, here: Here): unknown {
  const items = isObject(schema["items"]) ? itemsOf(schema) : { type: "object" };
  return make(items, { ...here, place: [...here.place, "*"], path: [] });
}

function makeList(schema: AnyObject, here: Here): unknown {
  const { plan, place } = here;
  const known = isOnTheWay(place, plan) ? undefined : said(schema, here);
  if (known !== undefined) return known;
  const { items, minItems } = schema;
  if (here.budget.left <= 0 || (!isObject(items) && !isOnTheWay(place, plan))) return [];
  const least = typeof minItems === "number" ? Math.min(minItems, 100) : 0;
  const count = isOnTheWay(place, plan) ? 1 : Math.max(innerItems, least);
  const made = Array.from({ length: count }, (_item, index) => {
    const path = isOnTheWay(place, plan) ? here.path : [...here.path, String(index)];
    return make(itemsOf(schema), { ...here, place: [...place, "*"], path });
  });
  return made.filter((item) => item !== undefined);
}

function makeObject(schema: AnyObject, here: Here): unknown {
  const properties = propertiesOf(schema);
  const isRoot = here.path.length === 0;
  if (properties.length === 0) return makeOpen(schema, here);
  if (here.place.length > depthMax || here.budget.left <= 0) return {};
  const isInstant = properties.some(([name]) => name === "dateTime");
  const made = properties.flatMap(([name, child]) => {
    // An object has either an exact time (`dateTime`) or a day (`date`), never both. So the day is left out, unless a call has set it.
    if (isInstant && name === "date" && said(child, { ...here, path: [...here.path, name] }) === undefined) return [];
    if (isRoot && name === here.idField) return [[name, idOf(child, name, here)] as const];
    const isEnvelope =
      isRoot && here.idField === undefined && here.shown.seed === here.plan.seed && envelopes.has(name);
    const { list } = here.plan.layout;
    const isRow = list?.inside === name && isSame(here.place, [...list.place, "*"]);
    const path = isEnvelope || isRow ? [] : [...here.path, name];
    const idField = isRow ? list.idField : here.idField;
    const value = make(child, { ...here, idField, place: [...here.place, name], path });
    if (value !== undefined) return [[name, value] as const];
    return Array.isArray(schema["required"]) && schema["required"].includes(name) ? [[name, null] as const] : [];
  });
  const isEmpty = made.length === 0 && here.path.length > 0 && here.shown.isMade === true;
  return isEmpty ? undefined : Object.fromEntries(made);
}

/**
 * Returns an object for a schema that declares no fields. The object has the values that are known from calls. If there are none, it has an
 * id and a name, because most objects have both.
 */
function makeOpen(schema: AnyObject, here: Here): unknown {
  const { path, shown, idField } = here;
  if (path.length === 0 && idField !== undefined) {
    const whole = { ...openFields(here), ...wholeOf(shown.facts, here.kind) };
    return {
      ...whole,
      ...(whole[idField] === undefined && {
        [idField]: idOf(here.plan.fields.get(plainName(idField))?.schema ?? { type: "string" }, idField, here),
      }),
    };
  }
  const known = path.length === 0 ? undefined : said(schema, here);
  if (known !== undefined) return known;
  const value = (name: string) => scalar({ type: "string" }, [...path, name], here);
  const made = { id: value("id"), name: value("name") };
  return made.id === undefined && made.name === undefined ? undefined : made;
}

/**
 * Returns fields for an object whose schema declares no fields. It takes the fields that other tools of the app show for objects of the
 * same kind.
 */
function openFields(here: Here): Record<string, unknown> {
  const fields = [...here.plan.fields.values()].filter(({ path }) => path.length === 1 && path[0] !== here.idField);
  const made = fields.map(({ path, schema }) => {
    const known = sayOf(here.shown.facts, path, schema);
    return [
      path[0] ?? "",
      known ?? madeUp(here.plan, { schema, path, owner: ownerOf(here), shown: here.shown }),
    ] as const;
  });
  return Object.fromEntries(made.filter(([, value]) => value !== undefined && value !== null));
}

/**
 * Returns the object that the call sent as a whole in one argument. Such an argument has the name of the object's kind (for example
 * `issue`). Returns an empty object if the call has no such argument.
 */
function wholeOf(facts: Facts, kind: Kind | undefined): AnyObject {
  const whole = kind && (facts[kind.words.join("")] ?? facts[kind.words.at(-1) ?? ""]);
  return isObject(whole) ? whole : {};
}

function said(schema: AnyObject, { shown, path }: Here): unknown {
  return path.length === 0 ? undefined : sayOf(shown.facts, path, schema);
}

/** Returns the object's id in the form that its field needs: a number, a text, or an address that ends with the id. */
function idOf(schema: AnyObject, name: string, here: Here): unknown {
  const { id } = here.shown;
  if (id === undefined) return scalar(schema, [name], here);
  if (name === "uri") return String(id).includes("://") ? id : `https://api.example.com/${ownerOf(here)}/${id}`;
  const types = typesOf(schema);
  if (types.includes("string") || types.length === 0) return String(id);
  const read = readScalar(String(id), { type: "integer" });
  return Number.isSafeInteger(read) || isRawJson(read) ? read : scalar(schema, [name], here);
}

function scalar(schema: AnyObject, path: readonly string[], here: Here): unknown {
  return madeUp(here.plan, { schema, path, owner: ownerOf(here), shown: here.shown });
}

/** Returns a made-up value for a field whose value is not known from a call. Returns undefined if the object has no value in this field. */
export function madeUp(
  { optionsFor, refer, baseMs }: Pick<ResultPlan, "optionsFor" | "refer" | "baseMs">,
  { schema, path, owner, shown }: { schema: AnyObject; path: readonly string[]; owner: string; shown: ShownObject },
): unknown {
  const referred = refer({ owner, shown, path, schema });
  if (referred !== undefined) return referred === nothing ? undefined : referred;
  if (isLeftOut(shown, path)) return undefined;
  const options = optionsFor(path.at(-1) ?? "");
  const { isMade: isNew = false, madeMs, changedMs, seed } = shown;
  return plausibleScalar({ schema, path, owner, seed, options, isNew, times: { baseMs, madeMs, changedMs } });
}

/**
 * True if the sandbox must leave a field out, because an earlier call set the object around it without this field. For example, the start
 * of an all-day event has a day but no hour.
 */
function isLeftOut({ facts }: ShownObject, path: readonly string[]): boolean {
  const holder = path.slice(0, -1).map(plainName).join("");
  return holder !== "" && Object.hasOwn(facts, holder) && isObject(facts[holder]);
}

function ownerOf({ kind, plan }: Here): string {
  return kind?.name ?? plan.noun;
}

function isSame(a: ResultPlace, b: ResultPlace): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}

/**
 * True if the list at `place` contains the object or the list that the call is about. The sandbox then gives this outer list exactly one
 * item.
 */
function isOnTheWay(place: ResultPlace, { layout, entity, items }: ResultPlan): boolean {
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
