import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { isObject } from "@svc/core";
import { type NodePath, pathOfNode } from "../read/cel-tree.ts";
import { hintOfForeign } from "../read/value-advice.ts";
import type { ReferenceRoot } from "../template.ts";
import { namesOf, typesOf, type ValueType } from "../types/schema-type.ts";
import type { Scope } from "../types/scope.ts";

// What is to be written in the place of what an expression may not name.

/** Where names of expressions start, beside now. */
export const roots: readonly string[] = [
  "row",
  "params",
  "input",
  "rows",
  "steps",
  "calls",
  "output",
] satisfies ReferenceRoot[];

/** What is done with a set, whose rows no expression sees. */
export const useOfSets =
  "rows.<set> is a number, how many rows it has: choose rows by filter, sort and limit, and take their fields by reduce";

/** How rows are chosen that are in another set. */
export function hintOfMember(sought: Expr | undefined, set: string): string {
  const path = pathOfNode(sought);
  const field = path?.root === "row" ? path.path.join(".") : "id";
  return `join the two sets: {"id": "known", "join": "<this set>", "with": "${set}", "on": {"${field}": "<field of ${set}>"}}; with "kind": "anti" it has the rows that ${set} has not`;
}

/** A name as it is written; `date` for what has none. */
export function textOfPath(node: Expr | undefined): string {
  const path = pathOfNode(node);
  return path === undefined ? "date" : [path.root, ...path.path].join(".");
}

/** What is done with a list or an object that a step answered: expressions take its scalars alone. */
export function hintOfNoScalar(path: NodePath["path"], type: ValueType): string {
  const [id, ...rest] = path;
  const names = namesOf(type ?? {});
  if (typesOf(type)?.has("array") !== true) {
    return names.length === 0 ? "name a scalar of it" : `name a scalar of it: ${names.slice(0, 10).join(", ")}`;
  }
  const items = namesOf(type && isObject(type["items"]) ? type["items"] : {});
  const keep = items.length === 0 ? "value" : items.includes("id") ? "id" : items[0];
  const rows = `"rows": {"from": "${rest.join(".")}[]", "keep": ["${keep}"]}`;
  return `take its rows where a call answers it, ${rows} at step ${id}, and name rows.${id} for how many there are, or filter and map them; whether a row is among those of another set a join tells`;
}

/** What is named in the place of a name that there is not: steps are named by what they leave behind. `whole`: with what goes on behind it. */
export function hintOfName(name: string, whole: string, scope: Scope): string {
  const foreign = hintOfForeign(whole);
  if (foreign !== undefined) return foreign;
  const ended = scope.ended.get(name);
  if (ended?.set !== undefined) return `write rows.${name} for how many rows it has`;
  if (ended !== undefined) return `write steps.${name}.<field> for what it answered`;
  return `start with ${roots.join(", ")} or now`;
}
