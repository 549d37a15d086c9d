import type { Action, Toolkit } from "@svc/catalog";
import { placeholdersOfTree } from "@svc/core";
import { propertiesOf } from "../app/refusal.ts";
import { plainName, singularOf, wordsOf } from "./words.ts";

/**
 * A kind of object that an app stores, such as `issue`. The kind exists if one of the app's tools takes the id of such an object.
 * - `idArguments`: names of the arguments for the id, such as `issueid` for `issue_id`.
 * - `scopeArguments`: other arguments in the path of such a tool. An id is unique only among objects with the same values for them.
 */
export type Kind = {
  readonly name: string;
  readonly words: readonly string[];
  readonly idArguments: ReadonlySet<string>;
  readonly scopeArguments: readonly string[];
};

/** The effect of a tool on the objects of a kind. `other`: no known effect; the sandbox makes up the answer from the schema only. */
export type ToolRole = {
  readonly verb: "create" | "read" | "update" | "delete" | "list" | "other";
  /** The kind of the objects. Undefined if the tool's noun is not a known kind. */
  readonly kind: Kind | undefined;
  /** The argument that contains the id of the object. Undefined if the tool takes no id. */
  readonly idArgument: string | undefined;
  /** The noun in the tool's name, as words in the singular. */
  readonly noun: readonly string[];
  /**
   * The arguments of the tool that contain ids of objects, each with the kind of its object. If one of these objects was deleted by an
   * earlier call, the sandbox answers the call with "not found".
   */
  readonly subjects: readonly { readonly kind: Kind; readonly argument: string }[];
};

const verbs = {
  create: new Set("create add post insert import index register upload invite send publish upsert put".split(" ")),
  copy: new Set("duplicate replicate copy clone forward".split(" ")),
  /**
   * Words in tool names. A tool whose name has such a word creates the object with the given id, or changes the object if it already
   * exists.
   */
  put: new Set("upsert put create add index insert".split(" ")),
  delete: new Set("delete remove destroy".split(" ")),
  list: new Set("list search query find all".split(" ")),
  read: new Set("get retrieve read fetch show".split(" ")),
};

/** First words of tool names that do not describe the effect of the tool. */
const adverbs = new Set(["quick", "bulk", "batch", "all"]);
const prepositions = new Set(["to", "from", "in", "of", "by", "with", "for", "on", "as"]);
const idWords = ["id", "uuid", "key", "hash", "slug", "name"];

type Named = {
  readonly verb: string;
  readonly noun: readonly string[];
  readonly isPlural: boolean;
  readonly to: string;
};

const knownRoles = new WeakMap<Toolkit, ReadonlyMap<string, ToolRole>>();

/**
 * Returns the role of a tool's action: what it does (for example `read` or `list`) and with which kind of object. The role is derived only
 * from the names and paths of the tools in the toolkit (all tools of the app).
 */
export function roleOf(toolkit: Toolkit, action: Action): ToolRole {
  let roles = knownRoles.get(toolkit);
  if (roles === undefined) {
    roles = findRoles(toolkit.actions);
    knownRoles.set(toolkit, roles);
  }
  return roles.get(action.slug) ?? { verb: "other", kind: undefined, idArgument: undefined, noun: [], subjects: [] };
}

function findRoles(actions: readonly Action[]): Map<string, ToolRole> {
  const kinds = findKinds(actions);
  return new Map(actions.map((action) => [action.slug, findRole(action, kinds)]));
}

function argumentsOf(action: Action): string[] {
  return propertiesOf(action.inputSchema).map(([name]) => name);
}

/** Returns the arguments in the path of a tool's request, in their order. */
function pathArguments(action: Action): string[] {
  return placeholdersOfTree(action.request.path)
    .map(([{ root, path }]) => (root === "params" ? String(path[0]) : ""))
    .filter((name) => name !== "");
}

/** Returns the argument at the end of the path of a tool's request. Returns undefined if the path does not end with an argument. */
function lastPathArgument({ request: { path } }: Action): string | undefined {
  const last = path.kind === "text" ? path.template.parts.at(-1) : undefined;
  return typeof last === "object" && last.root === "params" ? String(last.path[0]) : undefined;
}

function readName(action: Action): Named {
  let [verb = "", ...rest] = wordsOf(action.name);
  if (adverbs.has(verb) && rest.length > 1) [verb = "", ...rest] = rest;
  if (rest[0] === "or") rest = rest.slice(2);
  const isAll = rest[0] === "all" && rest.length > 1;
  if (isAll) rest = rest.slice(1);
  const at = rest.findIndex((word, index) => index > 0 && prepositions.has(word));
  const noun = withoutArgument(at < 0 ? rest : rest.slice(0, at), pathArguments(action));
  const last = noun.at(-1) ?? "";
  return {
    verb,
    noun: [...noun.slice(0, -1), singularOf(last)],
    isPlural: isAll || isPlural(last),
    to: at < 0 ? "" : (rest[at] ?? ""),
  };
}

/**
 * Returns a tool's noun without the name of an id argument at its end. Tool names that were made from request paths repeat the argument
 * (for example `sessions_session_id`).
 */
function withoutArgument(noun: readonly string[], args: readonly string[]): readonly string[] {
  for (const words of args.map(wordsOf)) {
    if (words.length < noun.length && words.every((word, index) => word === noun[noun.length - words.length + index])) {
      return noun.slice(0, -words.length);
    }
  }
  return noun;
}

/** Returns the argument that contains the id of the tool's object. For example, the tool `get_issue` may have the argument `issue_id`. */
function findIdArgument(action: Action, { verb, noun }: Named): string | undefined {
  const byName = new Map(argumentsOf(action).map((name) => [plainName(name), name]));
  const phrases = noun.map((_word, index) => noun.slice(index).join(""));
  for (const phrase of phrases) {
    for (const idWord of idWords) {
      const found = byName.get(phrase + idWord);
      if (found !== undefined) return found;
    }
  }
  return verbs.read.has(verb) ? byName.get(noun.join("")) : undefined;
}

function findKinds(actions: readonly Action[]): Kind[] {
  const found = new Map<string, { words: readonly string[]; idArguments: Set<string>; scopes: readonly string[] }>();
  const add = (action: Action, words: readonly string[], argument: string) => {
    const name = words.join("_");
    const kind = found.get(name) ?? {
      words,
      idArguments: new Set<string>(),
      scopes: pathArguments(action).filter((other) => other !== argument),
    };
    found.set(name, kind);
    kind.idArguments.add(plainName(argument));
  };
  const identifying = actions.map((action) => ({ action, ...readName(action) })).filter(namesOne);
  for (const { action, ...named } of identifying) {
    const argument = findIdArgument(action, named);
    if (argument !== undefined) add(action, named.noun, argument);
  }
  const taken = new Set([...found.values()].flatMap(({ idArguments }) => [...idArguments]));
  for (const { action, noun } of identifying) {
    const last = lastPathArgument(action);
    if (last === undefined || found.has(noun.join("_")) || taken.has(plainName(last))) continue;
    add(action, noun, last);
  }
  for (const { noun } of actions.map((one) => ({ action: one, ...readName(one) })).filter(makesOne)) {
    const name = noun.join("_");
    const list = actions.find((other) => isListOf(other, noun));
    if (list === undefined || found.has(name) || found.has(noun.at(-1) ?? "")) continue;
    found.set(name, { words: noun, idArguments: new Set(), scopes: pathArguments(list) });
  }
  // Kinds with longer names come first in the result, so that a `sub_issue` is not mistaken for an `issue`.
  return [...found.entries()]
    .map(([name, { words, idArguments, scopes }]) => ({ name, words, idArguments, scopeArguments: scopes }))
    .sort((a, b) => b.words.length - a.words.length);
}

/** True if a tool is about one existing object and takes the id of this object. False for tools that list or create objects. */
function namesOne({ action, verb, noun, to }: Named & { readonly action: Action }): boolean {
  if (noun.join("") === "" || to === "from" || to === "to" || verbs.list.has(verb)) return false;
  return action.class === "read" ? verbs.read.has(verb) : !verbs.create.has(verb) && !verbs.copy.has(verb);
}

/** True if a tool creates one object and returns its id. */
function makesOne({ action, verb, noun, to }: Named & { readonly action: Action }): boolean {
  return (
    verbs.create.has(verb) && noun.join("") !== "" && to === "" && JSON.stringify(action.outputSchema).includes('"id":')
  );
}

/**
 * True if a tool lists the objects that `noun` names, and its result contains no second list of objects. For example, `list_issues` lists
 * `issue` objects.
 */
function isListOf(action: Action, noun: readonly string[]): boolean {
  const named = readName(action);
  const isNamed = verbs.list.has(named.verb) && named.isPlural && named.noun.join("_") === noun.join("_");
  return isNamed && JSON.stringify(action.outputSchema).split('"id":').length <= 4;
}

function findRole(action: Action, kinds: readonly Kind[]): ToolRole {
  const named = readName(action);
  const args = argumentsOf(action);
  const idOf = (kind: Kind) => args.find((name) => kind.idArguments.has(plainName(name)));
  const required = action.inputSchema["required"];
  const subjects = kinds.flatMap((kind) => {
    const argument = idOf(kind);
    const isNamed = argument !== undefined && isOwnName(kind, argument);
    return isNamed && Array.isArray(required) && required.includes(argument) ? [{ kind, argument }] : [];
  });
  const { verb, kind } = pair(action, named, kinds, idOf);
  const idArgument = kind === undefined || verb === "list" || verbs.copy.has(named.verb) ? undefined : idOf(kind);
  return {
    verb,
    kind: isForeign(action, { verb, kind, named, subjects, idOf }) ? undefined : kind,
    idArgument,
    noun: named.noun,
    subjects,
  };
}

/**
 * True if a list tool shows the contents of one object, so that its rows are of a different kind than the tool's name says. For example, a
 * tool that reads one database returns its rows, and not databases.
 */
function isForeign(
  action: Action,
  {
    verb,
    kind,
    named: { noun },
    subjects,
    idOf,
  }: Pick<ToolRole, "verb" | "kind" | "subjects"> & { named: Named; idOf: (kind: Kind) => string | undefined },
): boolean {
  if (verb !== "list" || kind === undefined) return false;
  if (idOf(kind) !== undefined) return true;
  return subjects.length > 0 && kind.name !== noun.join("_") && !isInside(kind, noun, action);
}

/** True if `noun` is short for the kind of object. For example, `members` in `/lists/{list_id}/members` is short for `list_member`. */
function isInside({ words }: Kind, noun: readonly string[], action: Action): boolean {
  const holders = pathArguments(action).map((name) => wordsOf(name).slice(0, -1).join("_"));
  return holders.some((holder) => holder !== "" && `${holder}_${noun.join("_")}` === words.join("_"));
}

/** True if the name of an argument says whose id it contains. `issue_id` does; `id` and `name` do not. */
function isOwnName({ words }: Kind, argument: string): boolean {
  return plainName(argument).startsWith(words.join("")) || plainName(argument).startsWith(words.at(-1) ?? "-");
}

function pair(
  action: Action,
  { verb, noun, isPlural: isMany, to }: Named,
  kinds: readonly Kind[],
  idOf: (kind: Kind) => string | undefined,
): Pick<ToolRole, "verb" | "kind"> {
  const exact = kinds.find(({ name }) => name === noun.join("_")) ?? kinds.find((kind) => isInside(kind, noun, action));
  const asEnd = exact ?? kinds.find(({ words }) => endsWith(noun, words));
  const inside = exact ?? kinds.find((kind) => idOf(kind) !== undefined && contains(noun, kind.words));
  const hasId = exact !== undefined && idOf(exact) !== undefined;
  if (verbs.list.has(verb)) return { verb: "list", kind: asEnd };
  if (action.class === "read") {
    if (hasId) return { verb: "read", kind: exact };
    return isMany ? { verb: "list", kind: asEnd } : { verb: "other", kind: undefined };
  }
  if (verbs.delete.has(verb)) {
    return hasId && to !== "from" ? { verb: "delete", kind: exact } : { verb: "other", kind: undefined };
  }
  if (verbs.copy.has(verb)) return asEnd ? { verb: "create", kind: asEnd } : { verb: "other", kind: undefined };
  if (verbs.create.has(verb) && to !== "to") {
    const isNew = asEnd !== undefined && (idOf(asEnd) === undefined || (asEnd === exact && verbs.put.has(verb)));
    if (isNew) return { verb: "create", kind: asEnd };
  }
  if (verbs.put.has(verb)) return { verb: "other", kind: undefined };
  return inside !== undefined && idOf(inside) !== undefined
    ? { verb: "update", kind: inside }
    : { verb: "other", kind: undefined };
}

function endsWith(noun: readonly string[], words: readonly string[]): boolean {
  return words.length <= noun.length && words.every((word, index) => word === noun[noun.length - words.length + index]);
}

function contains(noun: readonly string[], words: readonly string[]): boolean {
  return noun.some((_word, at) => words.every((word, index) => word === noun[at + index]));
}

/** True if a word is a plural. */
function isPlural(word: string): boolean {
  return singularOf(word) !== word;
}
