import type { AppCall } from "@svc/connections";
import type { AnyObject } from "../app/refusal.ts";
import { askedOf, type CriteriaRow, type Criterion, isText } from "./criteria.ts";
import { type Facts, factsOf, mergeFacts, sayOf } from "./facts.ts";
import type { Layout } from "./layout.ts";
import { madeUp, type ResultPlan } from "./make.ts";
import { type Field, kindOf, madeUpId, type Order, rowPlace, schemaAt, shelfOf, show } from "./objects.ts";
import { isPageArgument, pageFields, pageOf } from "./page.ts";
import { listSeed } from "./references.ts";
import { roleOf, type ToolRole } from "./roles.ts";
import { canonicalJson, digestOf, numberOf, type Seed } from "./seed.ts";
import type { ShownObject } from "./shown.ts";
import type { ObjectStore } from "./store.ts";
import { plainName } from "./words.ts";

/** A call for a list, and the inputs for making up the rows of the list. */
export type ListWork = Pick<ResultPlan, "optionsFor" | "refer" | "noun" | "baseMs" | "fields"> & {
  readonly call: AppCall;
  readonly args: AnyObject;
  readonly role: ToolRole;
  readonly layout: Layout;
  readonly facts: Facts;
  readonly store: ObjectStore;
  /**
   * Known values of the objects that answers of the emulated apps have listed. A later read of one of these objects shows the same values.
   */
  readonly seen: ObjectStore;
};

/** Number of made-up rows among which a list with filters searches. */
const rowsSearched = 60;
/**
 * Maximum number of objects from earlier calls that a call searches or sorts to answer with a list. If there are more, only the newest are
 * used.
 */
const madeSearched = 500;

/**
 * Returns the requested page of a list that an emulated app answers with: the rows that pass the filters, and the fields of the answer next
 * to the list, for example the total.
 */
export function listPlan(work: ListWork, pages: number | undefined): Pick<ResultPlan, "items" | "page" | "facts"> {
  const { call, args, layout, facts } = work;
  const { list } = layout;
  if (list === undefined) return { items: undefined, page: () => undefined, facts };
  const listing = pages === undefined ? usualRows(work) : fullPages(work);
  const page = pageOf(call.toolkit, call.action, args, {
    ...{ count: listing.count, pages },
    startAfter: (id, total) => listing.rows(0, total).findIndex((row) => String(row.id) === id) + 1,
  });
  const items = listing.rows(page.start, page.end);
  return { items, page: pageFields(call.toolkit, call.action, page, list.place), facts };
}

type Listing = {
  /** Returns how many rows the list has. `usual`: number of rows that a list has if no objects or filters change it. */
  readonly count: (usual: number) => number;
  readonly rows: (start: number, end: number) => ShownObject[];
};

/** Returns the rows of a list: first the objects that calls made, then made-up rows, up to the usual number of rows. */
function usualRows(work: ListWork): Listing {
  const { call, args } = work;
  const { bound, criteria, order } = askedOf(call.toolkit, call.action, args);
  const facts = factsOf(bound, undefined, undefined);
  const all = findMade(work, facts);
  const made = criteria.length === 0 && order === undefined ? all : all.slice(-madeSearched);
  const rows = made.filter((shown) => fits(work, shown, criteria));
  const seed = listSeed(call.toolkit, sharedName(work, bound), bound);
  return {
    count: (usual) => {
      const most = criteria.length === 0 ? usual : rowsSearched;
      let left = isInNew(work) ? 0 : usual - made.length;
      for (let index = made.length; index < most && left > 0; index++) {
        const row = makeUpRow(work, facts, digestOf(seed, String(index)));
        if (row === undefined || !fits(work, row.shown, criteria)) continue;
        if (!row.isGone) rows.push(row.shown);
        left -= 1;
      }
      if (order !== undefined) sortRows(work, rows, order);
      return rows.length;
    },
    rows: (start, end) => {
      const shown = rows.slice(start, end);
      for (const row of shown) note(work, row, facts);
      return shown;
    },
  };
}

/**
 * Remembers the facts that a list showed about a row. For example, if the issues of a team are listed, a later call for one of them shows
 * that team.
 */
function note({ call, args, role, store, seen }: ListWork, { id, isMade }: ShownObject, facts: Facts): void {
  if (id === undefined || isMade === true || Object.keys(facts).length === 0) return;
  const shelf = shelfOf(call.toolkit, kindOf(role), args);
  if (store.find(call.projectId, shelf, String(id)) !== undefined) return;
  seen.put(call.projectId, { shelf, id: String(id), state: "known", facts });
}

/**
 * True if a list shows the contents of an object that a call to the sandbox made. Such a list contains only objects that calls made, and no
 * invented ones.
 */
function isInNew({ call, args, role, store }: ListWork): boolean {
  return role.subjects.some(({ kind, argument }) => {
    const id = String(args[argument]);
    return store.find(call.projectId, shelfOf(call.toolkit, kind, args), id)?.state === "made";
  });
}

/**
 * Numbers from which ids of seven digits are made. `idsFrom`: the lowest id. `idCount`: number of ids. `idStride`: distance between the ids
 * of neighbouring rows. It has no common divisor with `idCount`, so no id repeats.
 */
const [idsFrom, idCount, idStride] = [1_000_000, 9_000_000, 7_368_787];

/**
 * Returns the numeric id of a row in a long list. It is calculated from the row's index, so ids are unique. Random ids would repeat among
 * 20,000 rows, and a program would drop rows with a repeated id.
 */
function numberedId(seed: Seed, index: number): number {
  return idsFrom + (((numberOf(seed) % idCount) + index * idStride) % idCount);
}

/** Returns the rows for the scenario with many pages. Each row has all values by which the call filters. */
function fullPages(work: ListWork): Listing {
  const { call, args } = work;
  const wanted = Object.fromEntries(Object.entries(args).filter(([name]) => !isPageArgument(call.action, name)));
  const facts = factsOf(wanted, undefined, undefined);
  const seed = digestOf(call.toolkit.slug, call.action.name, canonicalJson(wanted));
  const { criteria } = askedOf(call.toolkit, call.action, args);
  const all = findMade(work, facts);
  const made = (criteria.length === 0 ? all : all.slice(-madeSearched)).filter((shown) => fits(work, shown, criteria));
  return {
    count: () => made.length,
    rows: (start, end) => {
      const rows = made.slice(start, end);
      for (let index = Math.max(start, made.length); index < end; index++) {
        const row = makeUpRow(work, facts, digestOf(seed, String(index)), numberedId(seed, index));
        if (row !== undefined && !row.isGone) rows.push(row.shown);
      }
      return rows;
    },
  };
}

/**
 * Returns the name of the tool whose made-up rows a list or search shows. A search over all objects shows the rows of the tool that lists
 * them all.
 */
function sharedName({ call: { toolkit, action }, role }: ListWork, bound: AnyObject): string {
  if (role.kind === undefined || Object.keys(bound).length > 0 || action.name.startsWith("list")) return action.name;
  const whole = toolkit.actions.find((other) => {
    const { verb, kind } = roleOf(toolkit, other);
    const isSame = verb === "list" && kind === role.kind && other.name.startsWith("list");
    return isSame && !(other.inputSchema as { required?: unknown }).required;
  });
  return whole?.name ?? action.name;
}

/** Returns a row with made-up values. The same seed always gives the same row. */
function makeUpRow(
  work: ListWork,
  bound: Facts,
  seed: Seed,
  numbered?: number,
): { shown: ShownObject; isGone: boolean } | undefined {
  const { call, args, layout, role, store } = work;
  const { list } = layout;
  if (list?.idField === undefined) return { shown: { id: undefined, seed, facts: bound }, isGone: false };
  const kind = kindOf(role);
  const schema =
    work.fields.get(plainName(list.idField))?.schema ??
    schemaAt(call.action.outputSchema, [...rowPlace(list), list.idField]);
  const drawn = madeUpId(schema, list.idField, kind.name, seed);
  const id = typeof drawn === "number" ? (numbered ?? drawn) : drawn;
  const shelf = shelfOf(call.toolkit, kind, args);
  const known = store.find(call.projectId, shelf, String(id));
  return { shown: show(shelf, id, mergeFacts(bound, known?.facts ?? {}), known), isGone: known?.state === "gone" };
}

/**
 * Returns the objects that calls to the sandbox made, in the order of their creation. Objects are left out if their known values contradict
 * the arguments that identify the list (for example the id of a folder).
 */
function findMade({ call, args, role, store }: ListWork, bound: Facts): ShownObject[] {
  if (role.verb !== "list" || role.kind === undefined) return [];
  const shelf = shelfOf(call.toolkit, role.kind, args);
  const isElsewhere = (facts: Facts) =>
    Object.entries(bound).some(([name, wanted]) => {
      const said = Object.hasOwn(facts, name) ? facts[name] : undefined;
      return said !== undefined && typeof said !== "object" && String(said) !== String(wanted);
    });
  const objects = store.made(call.projectId, shelf).filter(({ facts }) => !isElsewhere(facts));
  return objects.map((object) => show(shelf, object.id, object.facts, object));
}

function fits(work: ListWork, shown: ShownObject, criteria: readonly Criterion[]): boolean {
  if (criteria.length === 0) return true;
  const said = (name: string) => (Object.hasOwn(shown.facts, name) ? shown.facts[name] : undefined);
  const texts = () => Object.entries(shown.facts).flatMap(([name, value]) => (isText(name) ? [String(value)] : []));
  const row: CriteriaRow = { said, texts, field: (field) => fieldOf(work, shown, field) };
  return criteria.every((criterion) => criterion(row));
}

function sortRows(work: ListWork, rows: ShownObject[], { field, isDescending }: Order): void {
  const values = new Map(rows.map((row) => [row, fieldOf(work, row, field)]));
  const sign = isDescending ? -1 : 1;
  rows.sort((a, b) => sign * compareValues(values.get(a), values.get(b)));
}

/** Returns the value of a field in the form in which a row shows it. */
function fieldOf(work: ListWork, shown: ShownObject, { path, schema }: Field): unknown {
  const owner = work.role.kind?.name ?? work.noun;
  return sayOf(shown.facts, path, schema) ?? madeUp(work, { schema, path, owner, shown });
}

/**
 * Returns a negative number if `a` comes before `b`, a positive one if it comes after, and 0 otherwise. Numbers are compared by size, other
 * values by their text. Missing values come last.
 */
function compareValues(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [first, second] = [String(a).toLowerCase(), String(b).toLowerCase()];
  return first < second ? -1 : Number(first > second);
}
