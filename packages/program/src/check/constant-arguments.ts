import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { formatValue } from "@svc/core";
import { faultOfPattern } from "../read/cel-syntax.ts";
import { isDurationText, isTimestampText } from "../run/conversions.ts";
import { isZone, zoneNamed } from "../run/zone.ts";
import type { CelKind } from "../types/cel-signature.ts";

// Constants that functions take, looked at once, before they fail for every row.

/** What is wrong with a constant, and what would be right. */
export type ConstantFault = { readonly message: string; readonly hint: string };

/** The text that a part of an expression is; undefined for any other part. */
export function textOfNode(node: Expr | undefined): string | undefined {
  const constant = node?.exprKind.case === "constExpr" ? node.exprKind.value.constantKind : undefined;
  return constant?.case === "stringValue" ? constant.value : undefined;
}

/** Why a pattern cannot stand in matches(). */
export function faultOfMatches(node: Expr | undefined): ConstantFault | undefined {
  const pattern = textOfNode(node);
  if (pattern === undefined) {
    return { message: "takes a pattern from data", hint: "write the pattern of matches() as a text" };
  }
  const message = faultOfPattern(pattern);
  return message === undefined
    ? undefined
    : { message, hint: "write a short RE2 expression, without look-around and back references" };
}

const timeForms = {
  timestamp: {
    takes: isTimestampText,
    hint: () => 'write RFC 3339, such as timestamp("2026-05-01T09:00:00Z")',
  },
  duration: {
    takes: isDurationText,
    hint: (text: string) => `write hours, minutes and seconds, such as duration("${inHours(text)}")`,
  },
};

/** Days and weeks as hours, as which they are meant; any other, as an example. */
function inHours(text: string): string {
  const [, count, unit] = /^P?\s*(\d{1,5})\s*(d|w|days?|weeks?)$/i.exec(text.trim()) ?? [];
  if (count === undefined || unit === undefined) return "168h";
  return `${Number(count) * (unit.toLowerCase().startsWith("w") ? 168 : 24)}h`;
}

/** Why a constant is no time of that kind. */
export function faultOfTime(name: string, node: Expr | undefined): ConstantFault | undefined {
  const text = textOfNode(node);
  if ((name !== "timestamp" && name !== "duration") || text === undefined) return undefined;
  const { takes, hint } = timeForms[name];
  return takes(text) ? undefined : { message: `makes a ${name} of ${formatValue(text)}`, hint: hint(text) };
}

const partOfTime = /^get[A-Z]/;

/** Whether a function gives a part of a time in a zone that it is given. */
export function takesZone(name: string, count: number): boolean {
  return count === 1 && partOfTime.test(name);
}

/** Why a text names no time zone. */
export function faultOfZone(text: string): ConstantFault | undefined {
  if (isZone(text)) return undefined;
  const meant = zoneNamed(text);
  const hint = `write a name of the IANA database, such as "${meant ?? "Europe/Berlin"}", or an offset such as "+02:00"`;
  return { message: `names the time zone ${formatValue(text)}, which there is not`, hint };
}

/** What each clause of a format takes, and what of another kind is written in its place. */
const clauses: Readonly<Record<string, readonly CelKind[]>> = {
  s: [],
  d: ["int", "uint"],
  f: ["double"],
  e: ["double"],
  b: ["int", "uint", "bool"],
  o: ["int", "uint"],
  x: ["int", "uint", "string", "bytes"],
  X: ["int", "uint", "string", "bytes"],
};

const clauseForms =
  "write %s for any value, %d for an int, %.2f for a double with two digits, and %% for a percent sign";

/** Why a format cannot be filled in with values of these kinds; undefined kinds where the list is not written out. */
export function faultOfFormat(text: string, kinds: readonly CelKind[] | undefined): ConstantFault | undefined {
  const found = [...text.matchAll(/%(?:\.\d+)?(.?)/gs)].filter(([whole]) => whole !== "%%");
  for (const [whole, clause = ""] of found) {
    if (Object.hasOwn(clauses, clause)) continue;
    const cure = clause === "," ? "thousands get no separator: write %.2f" : clauseForms;
    return { message: `formats with ${formatValue(whole)}, which is no clause`, hint: cure };
  }
  if (kinds === undefined) return undefined;
  if (found.length !== kinds.length) {
    const message = `formats ${kinds.length} values by ${found.length} clauses`;
    return { message, hint: `give one value for each clause, as in '%s of %s'.format([a, b]); ${clauseForms}` };
  }
  for (const [index, [whole, clause = ""]] of found.entries()) {
    const kind = kinds[index] ?? "dyn";
    const taken = clauses[clause] ?? [];
    if (taken.length === 0 || kind === "dyn" || taken.includes(kind)) continue;
    return { message: `formats ${kind} with ${whole}, which takes ${taken.join(" or ")}`, hint: mendedClause(kind) };
  }
  return undefined;
}

function mendedClause(kind: CelKind): string {
  if (kind === "double") return "write %.0f for a double without digits after the point; numbers of JSON are doubles";
  if (kind === "int" || kind === "uint") return "write %d for it, or make a double of it: double(…)";
  return kind === "string" ? "write %s for a text, or make a number of it: double(…)" : "write %s for it";
}
