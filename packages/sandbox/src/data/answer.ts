import type { Action } from "@svc/catalog";
import type { AppCall } from "@svc/connections";
import { isObject, replaceRawNumbers, scalarText } from "@svc/core";
import { itemsOf, type JsonObject, propertiesOf, typesOf } from "../app/json.ts";
import type { MatchedRequest } from "../app/match-request.ts";
import { notFound, type Refusal } from "../app/refusal.ts";
import { type Facts, factsOf, mergeFacts, sayOf } from "./facts.ts";
import { type Layout, layoutOf, type Place } from "./layout.ts";
import { makeResult, type Plan, type Shown } from "./make.ts";
import { optionsFor } from "./options.ts";
import { isPageArgument, pageFields, pageOf } from "./page.ts";
import { plausibleScalar, uuidOf } from "./plausible.ts";
import { type Kind, type Role, roleOf } from "./roles.ts";
import { canonicalJson, digestOf, type Seed } from "./seed.ts";
import type { ObjectStore, Shelf, StoredObject } from "./store.ts";

/** What the app answers a call with: a result as the output schema has it. */
export type Result = { readonly result: unknown };

type Work = {
  readonly call: AppCall;
  readonly args: JsonObject;
  readonly role: Role;
  readonly layout: Layout;
  readonly facts: Facts;
  readonly seed: Seed;
  readonly store: ObjectStore;
};

/**
 * Does what a call asks for and makes its result. Deterministic: the same request on the same state gives the same result, so creating
 * twice with the same arguments makes one object.
 * `pages`: how many full pages a list has; undefined for one short page.
 */
export function answerCall(
  call: AppCall,
  request: MatchedRequest,
  { store, pages }: { store: ObjectStore; pages: number | undefined },
): Result | Refusal {
  // Objects are told apart by text, and schemas turn the texts of numbers back: those beyond 2^53 - 1 keep their digits.
  const args = replaceRawNumbers(request.args, scalarText) as JsonObject;
  const body = replaceRawNumbers(request.body, scalarText);
  const role = roleOf(call.toolkit, call.action);
  const work: Work = {
    call,
    args,
    role,
    layout: layoutOf(call.action, role),
    facts: factsOf(args, body, role.kind),
    seed: digestOf(call.toolkit.slug, call.action.name, canonicalJson(args)),
    store,
  };
  const gone = findGone(work);
  if (gone !== undefined) return notFound(gone);
  return { result: makeFitting(call.action, planOf(work, pages)) };
}

/** What was said may not fit where it is shown; what is made up does. */
function makeFitting({ outputSchema, validateOutput }: Action, plan: Plan): unknown {
  const result = makeResult(outputSchema, plan);
  if (validateOutput(result).length === 0) return result;
  const plain = (shown: Shown): Shown => ({ ...shown, facts: {} });
  const { entity, items } = plan;
  return makeResult(outputSchema, {
    ...plan,
    facts: {},
    entity: entity && plain(entity),
    items: items?.map(plain),
  });
}

function planOf(work: Work, pages: number | undefined): Plan {
  const { call, role, layout, facts, seed } = work;
  const plan: Plan = {
    seed,
    kind: role.kind,
    noun: role.noun.join("_") || call.toolkit.slug,
    optionsFor: optionsFor(call.toolkit, role.kind?.words ?? role.noun),
    facts,
    layout,
    entity: undefined,
    items: undefined,
    page: () => undefined,
  };
  switch (role.verb) {
    case "list":
    case "other":
      return { ...plan, ...listPlan(work, pages) };
    case "create":
      return { ...plan, entity: create(work) };
    case "read":
    case "update":
    case "delete":
      return { ...plan, ...(layout.list && listPlan(work, pages)), entity: changeOne(work, role.verb) };
  }
}

function shelfOf({ toolkit }: AppCall, kind: Kind, args: JsonObject): Shelf {
  const scope = kind.scopeArguments.map((name) => String(args[name] ?? ""));
  return { app: `${toolkit.ownerProjectId}/${toolkit.slug}`, kind: kind.name, scope: JSON.stringify(scope) };
}

/** What the call is about and was deleted, as a sentence. */
function findGone({ call, args, role, store }: Work): string | undefined {
  const own = role.kind && role.idArgument !== undefined ? [{ kind: role.kind, argument: role.idArgument }] : [];
  for (const { kind, argument } of [...role.subjects, ...own]) {
    const isMadeHere = role.verb === "create" && kind === role.kind;
    const isInScope = kind.scopeArguments.every((name) => args[name] !== undefined);
    const id = args[argument];
    if (isMadeHere || !isInScope || id === undefined) continue;
    const found = store.find(call.projectId, shelfOf(call, kind, args), String(id));
    if (found?.state === "gone") return `there is no ${kind.name} ${String(id).slice(0, 80)}`;
  }
  return undefined;
}

function create(work: Work): Shown | undefined {
  const { call, args, role, layout, facts, store } = work;
  const { kind } = role;
  const given = role.idArgument === undefined ? undefined : args[role.idArgument];
  if (kind === undefined || (given === undefined && layout.entity === undefined)) return undefined;
  const id = given === undefined ? newId(work, kind) : String(given);
  const shelf = shelfOf(call, kind, args);
  const before = store.find(call.projectId, shelf, id);
  const isThere = before !== undefined && before.state !== "gone";
  const object: StoredObject = { shelf, id, state: "made", facts: isThere ? mergeFacts(before.facts, facts) : facts };
  store.put(call.projectId, object);
  return show(shelf, id, object.facts);
}

/** The id that the caller chose, by the name of the field that will show it; else one made up. */
function newId({ call, layout, facts, seed }: Work, kind: Kind): string {
  const idField = layout.entity?.idField ?? "id";
  const schema = schemaAt(call.action.outputSchema, [...(layout.entity?.place ?? []), idField]);
  const chosen = idField === "uri" ? undefined : sayOf(facts, [idField], schema);
  return scalarText(chosen) ?? String(idOf(schema, idField, kind.name, seed));
}

function idOf(schema: JsonObject, idField: string, owner: string, seed: Seed): string | number {
  const types = typesOf(schema);
  if (types.length > 0 && !types.includes("string")) {
    return Number(plausibleScalar({ schema, path: [idField], owner, seed, options: [] }));
  }
  if (idField === "uri" || schema["format"] === "uuid") return uuidOf(seed, [idField]);
  if (/name$/i.test(idField)) return `${owner.replaceAll("_", "-")}-${digestOf(seed, "name").slice(0, 6)}`;
  return String(plausibleScalar({ schema: { type: "string" }, path: ["id"], owner, seed, options: [] }));
}

function schemaAt(schema: JsonObject, place: Place): JsonObject {
  return place.reduce<JsonObject>((held, step) => {
    return step === "*" ? itemsOf(held) : (new Map(propertiesOf(held)).get(step) ?? {});
  }, schema);
}

/** Fields that nobody spoke of follow from the id, so that a list and a get show the same object. */
function show(shelf: Shelf, id: string | number, facts: Facts): Shown {
  return { id, facts, seed: digestOf(shelf.app, shelf.kind, shelf.scope, String(id)) };
}

function changeOne({ call, args, role, facts, store }: Work, verb: "read" | "update" | "delete"): Shown | undefined {
  const id = role.idArgument === undefined ? undefined : args[role.idArgument];
  if (role.kind === undefined || id === undefined) return undefined;
  const shelf = shelfOf(call, role.kind, args);
  const before = store.find(call.projectId, shelf, String(id));
  const known = before?.facts ?? {};
  if (verb === "read") return show(shelf, String(id), mergeFacts(facts, known));
  const changed = mergeFacts(known, facts);
  const state = verb === "delete" ? "gone" : (before?.state ?? "known");
  store.put(call.projectId, { shelf, id: String(id), state, facts: verb === "delete" ? {} : changed });
  return show(shelf, String(id), changed);
}

function listPlan(work: Work, pages: number | undefined): Pick<Plan, "items" | "page" | "facts"> {
  const { call, args, layout, facts, role } = work;
  const { list } = layout;
  if (list === undefined) return { items: undefined, page: () => undefined, facts };
  const wanted = Object.entries(args).filter(([name]) => !isPageArgument(call.action, name));
  const filter = factsOf(Object.fromEntries(wanted), undefined, undefined);
  const made = role.verb === "list" && role.kind !== undefined ? findMade(work, role.kind, filter) : [];
  const page = pageOf(call.toolkit, call.action, args, { made: made.length, pages });
  const seed = digestOf(call.toolkit.slug, call.action.name, canonicalJson(Object.fromEntries(wanted)));
  const items: Shown[] = made.slice(page.start, page.end);
  for (let index = Math.max(page.start, made.length); index < page.end; index++) {
    const item = makeUpItem(work, filter, digestOf(seed, String(index)));
    if (item !== undefined) items.push(item);
  }
  return { items, page: pageFields(call.toolkit, call.action, page, list.place), facts };
}

/** An item that nobody made. Undefined when it was deleted since it was first shown. */
function makeUpItem({ call, args, layout, role, store }: Work, filter: Facts, seed: Seed): Shown | undefined {
  const { list } = layout;
  if (list?.idField === undefined) return { id: undefined, seed, facts: filter };
  const kind = role.kind ?? { name: role.noun.join("_"), words: [], idArguments: new Set(), scopeArguments: [] };
  const schema = schemaAt(call.action.outputSchema, [...list.place, "*", list.idField]);
  const id = idOf(schema, list.idField, kind.name, seed);
  const shelf = shelfOf(call, kind, args);
  const known = store.find(call.projectId, shelf, String(id));
  if (known?.state === "gone") return undefined;
  return show(shelf, id, mergeFacts(filter, known?.facts ?? {}));
}

/** What calls made of a kind and a list's arguments do not rule out, in the order made. */
function findMade({ call, args, store }: Work, kind: Kind, filter: Facts): Shown[] {
  const shelf = shelfOf(call, kind, args);
  const objects = store.made(call.projectId, shelf).filter(({ facts }) => isWanted(facts, filter));
  return objects.map(({ id, facts }) => show(shelf, id, facts));
}

/** Only what was said of an object can rule it out; a text may be a part of what was said. */
function isWanted(facts: Facts, filter: Facts): boolean {
  return Object.entries(filter).every(([name, wanted]) => {
    const said = Object.hasOwn(facts, name) ? facts[name] : undefined;
    if (said === undefined || isObject(said) || isObject(wanted) || Array.isArray(said) || Array.isArray(wanted))
      return true;
    return String(said).toLowerCase().includes(String(wanted).toLowerCase());
  });
}
