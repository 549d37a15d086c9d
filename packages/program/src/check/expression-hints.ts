import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { nearest } from "@svc/catalog";
import { formatValue, isObject } from "@svc/core";
import type { JsonValue } from "../json.ts";
import { type NodePath, pathOfNode } from "../read/cel-tree.ts";
import { hintOfForeign } from "../read/value-advice.ts";
import type { ReferenceRoot } from "../template.ts";
import {
  branchesOf,
  fieldType,
  namesOf,
  timestampType,
  typesOf,
  type ValueType,
  valuesListed,
} from "../types/schema-type.ts";
import type { Scope } from "../types/scope.ts";
import type { ConstantFault } from "./constant-arguments.ts";
import { constantValue } from "./constants.ts";

// The functions below make hints: texts that say what to write in place of a name that an expression cannot use.

/** The first names of paths in expressions (such as `row` or `steps`). `now` is missing, because it has no fields. */
export const roots: readonly string[] = [
  "row",
  "params",
  "input",
  "rows",
  "steps",
  "calls",
  "output",
] satisfies ReferenceRoot[];

/**
 * Returns a hint for a condition that tests if a row's value occurs in another set (list of rows), which conditions cannot do. The hint
 * shows a `join` step instead.
 */
export function hintOfMember(sought: Expr | undefined, set: string): string {
  const path = pathOfNode(sought);
  const field = path?.root === "row" ? path.path.join(".") : "id";
  return `join the two sets: {"id": "known", "join": "<this set>", "with": "${set}", "on": {"${field}": "<field of ${set}>"}}; "kind": "anti" keeps the rows that are not in ${set}`;
}

/** Returns a path such as `row.created` as it is written in the expression. Returns the example name `date` if the node is not a path. */
export function textOfPath(node: Expr | undefined): string {
  const path = pathOfNode(node);
  return path === undefined ? "date" : [path.root, ...path.path].join(".");
}

/** Returns a hint for a list or an object in a step's answer: expressions can use only scalars (text, number, boolean) of answers. */
export function hintOfNoScalar(path: NodePath["path"], type: ValueType): string {
  const [id, ...rest] = path;
  const names = namesOf(type ?? {});
  if (typesOf(type)?.has("array") !== true) {
    return names.length === 0
      ? "name a text, number or boolean in it"
      : `name a text, number or boolean in it: ${names.slice(0, 10).join(", ")}`;
  }
  const items = namesOf(type && isObject(type["items"]) ? type["items"] : {});
  const keep = items.length === 0 ? "value" : items.includes("id") ? "id" : items[0];
  const rows = `"rows": {"from": "${rest.join(".")}[]", "keep": ["${keep}"]}`;
  return `make a set of it in the call: ${rows} at step ${id}; then rows.${id} is the number of rows, and filter and map can read them; to find rows that are in another set, use join`;
}

/** Returns a hint that names what to write instead of an unknown name. `whole`: the unknown name with the fields after it. */
export function hintOfName(name: string, whole: string, scope: Scope): string {
  const foreign = hintOfForeign(whole);
  if (foreign !== undefined) return foreign;
  const ended = scope.ended.get(name);
  if (ended?.set !== undefined) return `write rows.${name} for its number of rows`;
  if (ended !== undefined) return `write steps.${name}.<field> for a field of its answer`;
  return `start with ${roots.join(", ")} or now`;
}

/** One side of a comparison. `node`: its part of the expression. `type`: the known type of its values, undefined if nothing is known. */
type Side = { readonly node: Expr | undefined; readonly type: ValueType };

/** Reason why the two sides of a comparison are never equal. `isNote`: true if the reason is only a note and the program is accepted. */
type MemberFault = ConstantFault & { readonly isNote?: boolean };

/** Maximum values of an enum that the hint in an error about a comparison lists. */
const namedMax = 20;

/**
 * Returns the reason why the two sides of a comparison (`_==_`, `_!=_` or `@in`) can never be equal. For example, one side is a constant
 * that the other never has. Returns undefined if they can be equal.
 */
export function faultOfMember(name: string, left: Side, right: Side, scope: Scope): MemberFault | undefined {
  if (name === "@in") return faultOfList(left, right, scope);
  if (name !== "_==_" && name !== "_!=_") return undefined;
  return (
    faultOfValue(left, right.node, scope) ??
    faultOfValue(right, left.node, scope) ??
    faultOfBoth(left, right) ??
    faultOfDay(left, right) ??
    faultOfDay(right, left)
  );
}

/**
 * Returns a fault if a comparison has a date (2026-11-24) on one side and the text of a time on the other, because such texts are never
 * equal.
 */
function faultOfDay(day: Side, time: Side): ConstantFault | undefined {
  if (day.type?.["format"] !== "date" || time.type !== timestampType) return undefined;
  return {
    message: `compares the day ${nameOf(day.node)} with a time such as 2026-11-24T09:00:00Z, and a day never equals a time`,
    hint: "write string(…).substring(0, 10) for the day of a time, in UTC",
  };
}

/**
 * Checks the operator `in` with a list. If the program writes out the list, each item must be a possible value of the left side. If the
 * list comes from data, the left side must be a possible item of the list.
 */
function faultOfList(left: Side, right: Side, scope: Scope): MemberFault | undefined {
  const items = right.node?.exprKind.case === "listExpr" ? right.node.exprKind.value.elements : undefined;
  if (items !== undefined) {
    return items.map((item) => faultOfValue(left, item, scope)).find((fault) => fault !== undefined);
  }
  const given = right.node && constantValue(right.node, scope);
  if (Array.isArray(given)) {
    return given.map((value) => faultOf(left, value)).find((fault) => fault !== undefined);
  }
  const item = fieldType(right.type, 0);
  return "type" in item ? faultOfValue({ node: right.node, type: item.type }, left.node, scope) : undefined;
}

function faultOfValue(side: Side, node: Expr | undefined, scope: Scope): MemberFault | undefined {
  if (membersOf(side.type) === undefined && valuesListed(side.type) === undefined) return undefined;
  return faultOf(side, node && constantValue(node, scope));
}

/**
 * Returns a fault if one side of a comparison can never have the value of the other side. The first parameter is the expression on one side
 * and its type, and `value` is the constant on the other side. Null is never a fault, because an app may answer null anywhere. Lists and
 * objects are checked elsewhere.
 */
function faultOf({ node, type }: Side, value: JsonValue | undefined): MemberFault | undefined {
  const own = membersOf(type);
  const given = own === undefined ? valuesListed(type) : undefined;
  const members = own ?? given?.values;
  if (members === undefined || members.includes(value ?? null)) return undefined;
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return undefined;
  const texts = members.filter((member) => typeof member === "string");
  const near = nearest(String(value), texts);
  const all = near === undefined ? members : [near, ...members.filter((member) => member !== near)];
  const named = all.slice(0, namedMax).map((member) => formatValue(member));
  const meant = near === undefined ? "" : `write ${formatValue(near)}; `;
  const list = `${named.join(", ")}${all.length > named.length ? `, and ${all.length - named.length} others` : ""}`;
  const message = `compares ${nameOf(node)} with ${formatValue(value)}`;
  if (given === undefined)
    return { message: `${message}, a value that it never has`, hint: `${meant}it is one of ${list}` };
  return {
    message: `${message}, a value that the argument ${given.argument} of its tool does not take`,
    hint: `${meant}the argument takes ${list}`,
    isNote: true,
  };
}

function faultOfBoth(left: Side, right: Side): ConstantFault | undefined {
  const [own, others] = [membersOf(left.type), membersOf(right.type)];
  if (own === undefined || others === undefined || own.some((member) => others.includes(member))) return undefined;
  const listOf = (members: readonly JsonValue[]) => members.slice(0, namedMax).map(formatValue).join(", ");
  return {
    message: `compares ${nameOf(left.node)} with ${nameOf(right.node)}, but the two have no value in common`,
    hint: `the first is one of ${listOf(own)}, the second is one of ${listOf(others)}`,
  };
}

/** Returns every value that a schema allows. Returns undefined if the schema does not list its values. */
function membersOf(type: ValueType): readonly JsonValue[] | undefined {
  if (type === undefined) return undefined;
  if (Array.isArray(type["enum"])) return type["enum"] as readonly JsonValue[];
  if (type["const"] !== undefined) return [type["const"] as JsonValue];
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = branchesOf(type, keyword).map((branch) => (branch.type === "null" ? [null] : membersOf(branch)));
    if (branches.length > 0 && branches.every((members) => members !== undefined)) return branches.flat();
  }
  return branchesOf(type, "allOf")
    .map(membersOf)
    .find((members) => members !== undefined);
}

function nameOf(node: Expr | undefined): string {
  const name = textOfPath(node);
  return name === "date" ? "a value" : name;
}
