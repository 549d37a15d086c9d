import { hash } from "node:crypto";
import type { Action, Toolkit } from "@svc/catalog";
import type { AppCall } from "@svc/connections";
import { replaceRawNumbers, scalarText } from "@svc/core";
import type { MatchedRequest } from "../app/match-request.ts";
import { type AnyObject, type AppRefusal, notFound } from "../app/refusal.ts";
import { type Facts, factsOf, mergeFacts, sayOf } from "./facts.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { makeResult, type ResultPlan } from "./make.ts";
import { fieldsOf, madeUpId, schemaAt, shelfOf, show } from "./objects.ts";
import { optionsFor } from "./options.ts";
import { referTo } from "./references.ts";
import { type Kind, roleOf, type ToolRole } from "./roles.ts";
import { listPlan } from "./rows.ts";
import { canonicalJson, digestOf, type Seed } from "./seed.ts";
import type { ShownObject } from "./shown.ts";
import type { ObjectStore, StoredObject } from "./store.ts";

/** The app's answer to a call: a result that fits the output schema. */
export type Result = { readonly result: unknown };

type Work = {
  readonly call: AppCall;
  readonly args: AnyObject;
  readonly role: ToolRole;
  readonly layout: Layout;
  readonly facts: Facts;
  readonly seed: Seed;
  readonly store: ObjectStore;
  readonly seen: ObjectStore;
  readonly nowMs: number;
  readonly baseMs: number;
};

/** Data from which the sandbox makes the answer to a call: its stored objects and the time. */
export type Sources = Pick<Work, "store" | "seen" | "nowMs" | "baseMs"> & {
  /**
   * Number of full pages of a list, if the caller asked the sandbox for lists of many pages. Otherwise undefined: a list then has only one
   * page, which is not full.
   */
  readonly pages: number | undefined;
};

/**
 * Performs a call of an emulated app and returns its result. The same request on the same state gives the same result. A repeated call with
 * the same arguments does not create a second object.
 */
export function answerCall(
  call: AppCall,
  request: MatchedRequest,
  { pages, ...sources }: Sources,
): Result | AppRefusal {
  // Ids are compared as texts, so numbers become texts here. Numbers above 2^53 - 1 keep all their digits. Schemas convert the texts back
  // to numbers.
  const args = replaceRawNumbers(request.args, scalarText) as AnyObject;
  const body = replaceRawNumbers(request.body, scalarText);
  const { role, layout } = roleAndLayout(call);
  const work: Work = {
    call,
    args,
    role,
    layout,
    facts: { ...(role.verb === "update" && endOf(call.action)), ...factsOf(args, body, role.kind) },
    seed: digestOf(call.toolkit.slug, call.action.name, canonicalJson(args)),
    ...sources,
  };
  const gone = findGone(work);
  if (gone !== undefined) return notFound(gone);
  return { result: makeFitting(call.action, planOf(work, pages)) };
}

function roleAndLayout({ toolkit, action }: AppCall): { role: ToolRole; layout: Layout } {
  const named = roleOf(toolkit, action);
  const layout = layoutOf(action, named);
  const inside = layout.list?.inside;
  if (named.kind !== undefined || inside === undefined) return { role: named, layout };
  const role = asListOf(toolkit, named, inside);
  return { role, layout: layoutOf(action, role) };
}

/**
 * Returns the known field values that follow from a tool's name alone. For example, `archive_board` sets the board to archived. Returns no
 * values for most names.
 */
function endOf({ name }: Action): Facts {
  return name.startsWith("archive_") ? { archived: true, state: "archived" } : {};
}

/**
 * Returns a result that fits the output schema. At first, the result shows values that earlier calls have set. If one of these values does
 * not fit the schema, the result is made a second time with only made-up values, which always fit.
 */
function makeFitting({ outputSchema, validateOutput }: Action, plan: ResultPlan): unknown {
  const result = makeResult(outputSchema, plan);
  if (validateOutput(result).length === 0) return result;
  const plain = (shown: ShownObject): ShownObject => ({ ...shown, facts: {} });
  const { entity, items } = plan;
  return makeResult(outputSchema, {
    ...plan,
    facts: {},
    entity: entity && plain(entity),
    items: items?.map(plain),
  });
}

function planOf(work: Work, pages: number | undefined): ResultPlan {
  const { call, role, layout, facts, seed } = work;
  const plan: ResultPlan = {
    seed,
    kind: role.kind,
    noun: role.noun.join("_") || call.toolkit.slug,
    optionsFor: optionsFor(call.toolkit, role.kind?.words ?? role.noun),
    refer: (field) => referTo(call.toolkit, (shelf, id) => work.store.find(call.projectId, shelf, id), field),
    fields: role.verb === "list" ? fieldsOf(call.toolkit, call.action) : new Map(),
    baseMs: work.baseMs,
    facts,
    layout,
    entity: undefined,
    items: undefined,
    page: () => undefined,
  };
  switch (role.verb) {
    case "list":
    case "other":
      return { ...plan, ...listPlan({ ...work, ...plan }, pages) };
    case "create":
      return { ...plan, entity: create(work) };
    case "read":
    case "update":
    case "delete":
      return { ...plan, ...(layout.list && listPlan({ ...work, ...plan }, pages)), entity: changeOne(work, role.verb) };
  }
}

/** Returns a sentence that an object was deleted, if the call is about a deleted object. Otherwise returns undefined. */
function findGone({ call, args, role, store }: Work): string | undefined {
  const own = role.kind && role.idArgument !== undefined ? [{ kind: role.kind, argument: role.idArgument }] : [];
  for (const { kind, argument } of [...role.subjects, ...own]) {
    const isMadeHere = role.verb === "create" && kind === role.kind;
    const isInScope = kind.scopeArguments.every((name) => args[name] !== undefined);
    const id = args[argument];
    if (isMadeHere || !isInScope || id === undefined) continue;
    const found = store.find(call.projectId, shelfOf(call.toolkit, kind, args), String(id));
    if (found?.state === "gone") return `there is no ${kind.name} ${String(id).slice(0, 80)}`;
  }
  return undefined;
}

function create(work: Work): ShownObject | undefined {
  const { call, args, role, layout, facts, store, nowMs } = work;
  const { kind } = role;
  const given = role.idArgument === undefined ? undefined : args[role.idArgument];
  if (kind === undefined || (given === undefined && layout.entity === undefined)) return undefined;
  const id = given === undefined ? newId(work, kind) : String(given);
  const shelf = shelfOf(call.toolkit, kind, args);
  const before = store.find(call.projectId, shelf, id);
  const isThere = before !== undefined && before.state !== "gone";
  const object: StoredObject = {
    shelf,
    id,
    state: "made",
    facts: isThere ? mergeFacts(before.facts, facts) : facts,
    madeMs: (isThere ? before.madeMs : undefined) ?? nowMs,
    changedMs: nowMs,
  };
  store.put(call.projectId, object);
  return show(shelf, id, object.facts, object);
}

/**
 * Returns the id of a new object. If an argument has the name of the field that shows the id, the caller chose the id. Otherwise the id is
 * made up.
 */
function newId({ call, layout, facts, seed }: Work, kind: Kind): string {
  const idField = layout.entity?.idField ?? "id";
  const schema = schemaAt(call.action.outputSchema, [...(layout.entity?.place ?? []), idField]);
  const chosen = idField === "uri" ? undefined : sayOf(facts, [idField], schema);
  const { emailaddress: email } = facts;
  // Some apps use the MD5 hash of a subscriber's email address, in lower case, as the subscriber's id.
  if (typeof email === "string" && kind.idArguments.has("subscriberhash"))
    return hash("md5", email.toLowerCase(), "hex");
  return scalarText(chosen) ?? String(madeUpId(schema, idField, kind.name, seed));
}

function changeOne(
  { call, args, role, facts, store, seen, nowMs }: Work,
  verb: "read" | "update" | "delete",
): ShownObject | undefined {
  const id = role.idArgument === undefined ? undefined : args[role.idArgument];
  if (role.kind === undefined || id === undefined) return undefined;
  const shelf = shelfOf(call.toolkit, role.kind, args);
  const before = store.find(call.projectId, shelf, String(id));
  const known = (before ?? seen.find(call.projectId, shelf, String(id)))?.facts ?? {};
  if (verb === "read") return show(shelf, String(id), mergeFacts(facts, known), before);
  const changed = mergeFacts(known, facts);
  const isGone = verb === "delete";
  const object: StoredObject = {
    shelf,
    id: String(id),
    state: isGone ? "gone" : (before?.state ?? "known"),
    facts: isGone ? {} : changed,
    madeMs: before?.madeMs,
    changedMs: nowMs,
  };
  store.put(call.projectId, object);
  return show(shelf, String(id), changed, { ...object, state: before?.state ?? "known" });
}

/**
 * Returns the role of a list tool (what it does, with which kind of object), changed so that the list contains objects of the kind `name`.
 * It is used for a list whose items have another kind than the tool's name says, for example the documents that a search finds. Returns the
 * role unchanged if no tool of the app has this kind.
 */
function asListOf(toolkit: Toolkit, role: ToolRole, name: string): ToolRole {
  const roles = toolkit.actions.map((action) => roleOf(toolkit, action));
  const kind = roles.map((other) => other.kind).find((other) => other?.name === name);
  return kind === undefined ? role : { ...role, kind };
}
