import type { Action, Toolkit } from "@svc/catalog";
import { type AnyObject, propertiesOf, readScalar, typesOf } from "../app/refusal.ts";
import { type Facts, sayOf } from "./facts.ts";
import { layoutOf } from "./layout.ts";
import { kindOf, madeUpId, rowPlace, schemaAt, shelfOf, show } from "./objects.ts";
import { optionsFor } from "./options.ts";
import { plausibleScalar } from "./plausible.ts";
import { type Kind, roleOf } from "./roles.ts";
import { canonicalJson, digestOf, numberOf, type Seed } from "./seed.ts";
import { nothing, type ShownObject } from "./shown.ts";
import type { Shelf, StoredObject } from "./store.ts";
import { plainName, singularOf, wordsOf } from "./words.ts";

/**
 * Returns a stored object of the sandbox by its id. Only objects that a call has made or changed are stored. Returns undefined for any
 * other id.
 */
export type Find = (shelf: Shelf, id: string) => StoredObject | undefined;

/**
 * A field that shows a value of another object. `list`: the tool that lists such other objects. `leaf`: the field of the other object whose
 * value is shown.
 */
type Reference = {
  readonly list: Action;
  readonly base: readonly string[];
  /** The role that the referenced object has for this object. For example, `assignee` for a user to whom an issue refers. */
  readonly word: string;
  readonly leaf: string;
};

/** Number of first rows of a made-up list to which other objects can refer. A list usually shows this many rows. */
const rowsMax = 3;
const personWords = new Set(
  "assignee owner creator lead author user member agent organizer reviewer requester reporter sender".split(" "),
);
/**
 * Names of fields that show a person's role in an object. If a call names no person for such a role, the field shows the author of the
 * object.
 */
const authorWords = new Set("creator author owner user member organizer sender requester reporter".split(" "));
/** Names of references that stay empty until a call sets them, for example the assignee of an issue. */
const optionalWords = new Set(
  "assignee lead agent reviewer project milestone cycle parent org organization person contact deal label".split(" "),
);
const nameFields = ["name", "summary", "title", "displayname", "display_name", "full_name", "label"];

/**
 * Returns the seed from which the sandbox invents the rows of a list. `bound`: the arguments that identify the list, such as the id of a
 * channel. The seed depends on the name and these arguments, so that the same list always has the same rows.
 */
export function listSeed({ slug }: Toolkit, listName: string, bound: AnyObject): Seed {
  return digestOf(slug, listName, canonicalJson(bound));
}

const knownReferences = new WeakMap<Toolkit, Map<string, Reference | undefined>>();

/**
 * Returns the value of a field that shows another object, for example the name of an incident's service. The value comes from the app's
 * list of such objects. Undefined if the app has no such list.
 */
export function referTo(
  toolkit: Toolkit,
  find: Find,
  { owner, shown, path, schema }: { owner: string; shown: ShownObject; path: readonly string[]; schema: AnyObject },
): unknown {
  const reference = referenceOf(toolkit, owner, path);
  if (reference === undefined) return undefined;
  const { list, base, word, leaf } = reference;
  const said = sayOf(shown.facts, leaf === "id" && base === path ? base : [...base, "id"], {});
  if (said === undefined && shown.isMade === true && optionalWords.has(word)) return nothing;
  const isAuthor = shown.isMade === true && authorWords.has(word);
  const row = rowOf(toolkit, list, {
    said,
    facts: shown.facts,
    index: isAuthor ? 0 : numberOf(shown.seed, ...base, "reference") % rowsMax,
  });
  if (row === undefined) return undefined;
  if (leaf === "id") return asTyped(row.shown.id, schema);
  const changed = row.shown.id === undefined ? undefined : find(row.shelf, String(row.shown.id));
  return fieldOf(toolkit, list, { ...row.shown, facts: changed?.facts ?? {} }, leaf);
}

function referenceOf(toolkit: Toolkit, owner: string, path: readonly string[]): Reference | undefined {
  let known = knownReferences.get(toolkit);
  if (known === undefined) {
    known = new Map();
    knownReferences.set(toolkit, known);
  }
  const key = `${owner} ${path.join(".")}`;
  if (!known.has(key)) known.set(key, findReference(toolkit, owner, path));
  return known.get(key);
}

function findReference(toolkit: Toolkit, owner: string, path: readonly string[]): Reference | undefined {
  const { base, words, leaf } = splitPath(path);
  if (words.length === 0 || words.join("_") === owner) return undefined;
  const list = findList(toolkit, words);
  return list && { list, base, word: words.at(-1) ?? "", leaf };
}

/**
 * Splits the path of a field that belongs to another object, for example `assignee.name`. `words`: the words for the object, such as
 * `assignee`. `leaf`: the field of the object, such as `name`. `base`: the part of the path that refers to the object.
 */
function splitPath(path: readonly string[]): { base: readonly string[]; words: readonly string[]; leaf: string } {
  const last = path.findLast((step) => !/^\d+$/.test(step)) ?? "";
  const ends = wordsOf(last);
  const isId = ends.length > 1 && /^(?:ids?|uuid)$/.test(ends.at(-1) ?? "");
  if (isId) return { base: path, words: ends.slice(0, -1), leaf: "id" };
  const holders = path.slice(0, path.lastIndexOf(last));
  const holder = holders.findLast((step) => !/^\d+$|^nodes$/.test(step));
  if (holder === undefined) return { base: path, words: [], leaf: last };
  const words = wordsOf(holder).at(-1) === "by" ? ["creator"] : wordsOf(holder);
  const singular = [...words.slice(0, -1), singularOf(words.at(-1) ?? "")];
  return { base: holders, words: singular, leaf: plainName(last) === "id" ? "id" : last };
}

/**
 * Returns the action that lists objects of the kind that `words` name, such as `user`. The listed rows must have ids. Of several such
 * actions, returns the one with the fewest required arguments.
 */
function findList(toolkit: Toolkit, words: readonly string[]): Action | undefined {
  const lists = toolkit.actions.filter((action) => hasRows(toolkit, action));
  lists.sort((a, b) => requiredOf(a).length - requiredOf(b).length);
  const find = (isNamed: (kind: Kind) => boolean) => lists.find((list) => isNamed(kindOf(roleOf(toolkit, list))));
  const name = words.join("_");
  return (
    find((kind) => kind.name === name) ??
    find((kind) => kind.idArguments.has(`${words.join("")}id`)) ??
    find((kind) => kind.words.at(-1) === words.at(-1)) ??
    (personWords.has(words.at(-1) ?? "") ? find((kind) => /^(?:user|member)$/.test(kind.name)) : undefined)
  );
}

function hasRows(toolkit: Toolkit, action: Action): boolean {
  const role = roleOf(toolkit, action);
  return role.verb === "list" && layoutOf(action, role).list?.idField !== undefined;
}

/** Returns the required arguments of a list tool, except parts of the app's address. These arguments determine what the list shows. */
function requiredOf(action: Action): string[] {
  const { required } = action.inputSchema as { required?: unknown };
  return Array.isArray(required) ? required.map(String).filter((name) => !isHost(action, name)) : [];
}

/** True if an argument is part of the app's address. Such an argument is the same in all calls of an account. */
export function isHost(action: Action, name: string): boolean {
  return new Map(propertiesOf(action.inputSchema)).get(name)?.["x-host"] === true;
}

type ReferredRow = { readonly shelf: Shelf; readonly shown: ShownObject };

const knownRows = new WeakMap<Toolkit, Map<string, ReferredRow | undefined>>();

/**
 * Returns one row of a list tool that the sandbox plays. `said`: the id of the row. Without `said`, returns the row at `index`. Returns
 * undefined if `facts` (the known arguments) lacks a required argument of the list tool.
 */
function rowOf(
  toolkit: Toolkit,
  list: Action,
  { said, facts, index }: { said: unknown; facts: Facts; index: number },
): ReferredRow | undefined {
  const required = requiredOf(list);
  if (required.length > 0 || said !== undefined) return findRow(toolkit, list, { said, facts, index });
  const known = knownRows.get(toolkit) ?? new Map<string, ReferredRow | undefined>();
  knownRows.set(toolkit, known);
  const key = `${list.name} ${index}`;
  if (!known.has(key)) known.set(key, findRow(toolkit, list, { said, facts, index }));
  return known.get(key);
}

function findRow(
  toolkit: Toolkit,
  list: Action,
  { said, facts, index }: { said: unknown; facts: Facts; index: number },
): ReferredRow | undefined {
  const role = roleOf(toolkit, list);
  const layout = layoutOf(list, role).list;
  const bound = requiredOf(list).map((name) => [name, facts[plainName(name)]] as const);
  if (layout?.idField === undefined || bound.some(([, value]) => value === undefined)) return undefined;
  const args = Object.fromEntries(bound);
  const kind = kindOf(role);
  const shelf = shelfOf(toolkit, kind, args);
  const schema = schemaAt(list.outputSchema, [...rowPlace(layout), layout.idField]);
  const seed = digestOf(listSeed(toolkit, list.name, args), String(index));
  const isSaid = typeof said === "string" || typeof said === "number";
  const id = isSaid ? said : madeUpId(schema, layout.idField, kind.name, seed);
  return { shelf, shown: show(shelf, id, {}) };
}

function asTyped(id: string | number | undefined, schema: AnyObject): unknown {
  const types = typesOf(schema);
  if (types.length === 0 || types.includes("string")) return id === undefined ? undefined : String(id);
  const read = readScalar(String(id), { type: "integer" });
  return typeof read === "number" ? read : undefined;
}

/**
 * Returns the value of an object's field, as the list tool for these objects returns it. For a name, a similar field such as `summary` may
 * be used. Returns undefined if no field is found.
 */
function fieldOf(toolkit: Toolkit, list: Action, shown: ShownObject, leaf: string): unknown {
  const role = roleOf(toolkit, list);
  const layout = layoutOf(list, role).list;
  const properties = layout === undefined ? [] : propertiesOf(schemaAt(list.outputSchema, rowPlace(layout)));
  const find = (name: string) => properties.find(([own]) => plainName(own) === plainName(name));
  const isName = nameFields.includes(leaf) || /name$/i.test(leaf);
  const found = find(leaf) ?? (isName ? nameFields.map(find).find((own) => own !== undefined) : undefined);
  if (found === undefined || propertiesOf(found[1]).length > 0) return undefined;
  const [name, schema] = found;
  const kind = kindOf(role);
  const options = optionsFor(toolkit, kind.words)(name);
  return (
    sayOf(shown.facts, [name], schema) ??
    plausibleScalar({ schema, path: [name], owner: kind.name, seed: shown.seed, options })
  );
}
