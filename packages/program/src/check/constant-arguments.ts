import { type CelInput, celEnv, isCelError, parse, plan } from "@bufbuild/cel";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import { formatValue } from "@svc/core";
import { celLimits } from "../read/cel-calls.ts";
import { celTime, isDurationText, isTimestampText } from "../run/conversions.ts";
import { meteredEnv } from "../run/evaluation.ts";
import type { CelKind } from "../types/cel-signature.ts";

const env = celEnv();

const hours = plan(meteredEnv, parse("time.getHours(zone)"));
const time = celTime(0);

/**
 * Cache of time zones that were found valid. The cache has no limit but stays small: only about 600 names and 6,000 offsets are possible.
 */
const known = new Set<string>();

/** True if expressions accept this text as a time zone: a name of the IANA database, or an offset. */
function isZone(text: string): boolean {
  if (known.has(text)) return true;
  const traces = Error.stackTraceLimit;
  // For an invalid name, the function creates an error, and only its existence is checked. Creating its stack trace would take longer than
  // all other work here, so it is switched off.
  Error.stackTraceLimit = 0;
  try {
    const found = !isCelError(hours({ time, zone: text }));
    if (found) known.add(text);
    return found;
  } finally {
    Error.stackTraceLimit = traces;
  }
}

let places: ReadonlyMap<string, string> | undefined;

/** Returns the full time zone name for a place (Europe/Berlin for Berlin), or undefined if no zone has this place. */
function zoneNamed(place: string): string | undefined {
  places ??= new Map(Intl.supportedValuesOf("timeZone").map((name) => [placeOf(name), name]));
  return places.get(place.trim().toLowerCase().replaceAll(" ", "_"));
}

function placeOf(zone: string): string {
  return zone.slice(zone.lastIndexOf("/") + 1).toLowerCase();
}

// The following functions check constant arguments of functions, for example the pattern of `matches()`. A wrong constant is reported once,
// before the program runs, instead of failing for every row.

/** An error in a constant of an expression (`message`), and how to correct it (`hint`). */
export type ConstantFault = { readonly message: string; readonly hint: string };

/** Returns the text if a part of an expression is a constant text. Returns undefined for any other part. */
export function textOfNode(node: Expr | undefined): string | undefined {
  const constant = node?.exprKind.case === "constExpr" ? node.exprKind.value.constantKind : undefined;
  return constant?.case === "stringValue" ? constant.value : undefined;
}

/** Returns the reason why a pattern is not allowed as an argument of the CEL function `matches`, or undefined if the pattern is allowed. */
export function faultOfMatches(node: Expr | undefined): ConstantFault | undefined {
  const pattern = textOfNode(node);
  if (pattern === undefined) {
    return { message: "takes a pattern from data", hint: "write the pattern of matches() as a text" };
  }
  const message = faultOfPattern(pattern);
  return message === undefined
    ? undefined
    : { message, hint: "write a short RE2 expression, without look-around and backreferences" };
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

/**
 * Returns a duration that is written in days or weeks as hours (`48h` for `2d`). For any other text it returns an example of a valid
 * duration. The result is shown in a hint.
 */
function inHours(text: string): string {
  const [, count, unit] = /^P?\s*(\d{1,5})\s*(d|w|days?|weeks?)$/i.exec(text.trim()) ?? [];
  if (count === undefined || unit === undefined) return "168h";
  return `${Number(count) * (unit.toLowerCase().startsWith("w") ? 168 : 24)}h`;
}

/** Returns why a constant is not valid for a time function (`timestamp` or `duration`), or undefined if it is valid. */
export function faultOfTime(name: string, node: Expr | undefined): ConstantFault | undefined {
  const text = textOfNode(node);
  if ((name !== "timestamp" && name !== "duration") || text === undefined) return undefined;
  const { takes, hint } = timeForms[name];
  return takes(text) ? undefined : { message: `makes a ${name} of ${formatValue(text)}`, hint: hint(text) };
}

const partOfTime = /^get[A-Z]/;

/** True if the function with this name and this number of arguments returns a part of a time (such as the hour) in a given time zone. */
export function takesZone(name: string, count: number): boolean {
  return count === 1 && partOfTime.test(name);
}

/** Returns the reason why a text is not the name of a time zone, or undefined if it is one. */
export function faultOfZone(text: string): ConstantFault | undefined {
  if (isZone(text)) return undefined;
  const meant = zoneNamed(text);
  const hint = `write a name of the IANA database, such as "${meant ?? "Europe/Berlin"}", or an offset such as "+02:00"`;
  return { message: `names the time zone ${formatValue(text)}, which does not exist`, hint };
}

/** The kinds of values that each clause of a format (such as `%d`) accepts, by the clause's letter. An empty list accepts every kind. */
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

/**
 * Returns the reason why a format text of the CEL function `format` does not fit its values, or undefined if it fits. `kinds`: the types of
 * the values; undefined if the program does not list the values one by one.
 */
export function faultOfFormat(text: string, kinds: readonly CelKind[] | undefined): ConstantFault | undefined {
  const found = [...text.matchAll(/%(?:\.\d+)?(.?)/gs)].filter(([whole]) => whole !== "%%");
  for (const [whole, clause = ""] of found) {
    if (Object.hasOwn(clauses, clause)) continue;
    const cure = clause === "," ? "svc writes no thousands separators: write %.2f" : clauseForms;
    return { message: `formats with ${formatValue(whole)}, which is not a clause`, hint: cure };
  }
  if (kinds === undefined) return undefined;
  if (found.length !== kinds.length) {
    const message = `formats ${kinds.length} values with ${found.length} clauses`;
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
  if (kind === "int" || kind === "uint") return "write %d for it, or convert it to a double: double(…)";
  return kind === "string" ? "write %s for a text, or convert it to a number: double(…)" : "write %s for it";
}

/**
 * Returns the reason why a pattern is not allowed in the CEL function `matches`, or undefined if it is allowed. Large counted repetitions
 * are refused, because a pattern is compiled at each evaluation. A class repeated 900 times took 30 ms to compile, and one repeated 20
 * times less than 1 ms.
 */
function faultOfPattern(pattern: string): string | undefined {
  const { patternCharacters, patternRepeats } = celLimits;
  if (pattern.length > patternCharacters) return `has a pattern of more than ${patternCharacters} characters`;
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].flatMap(([, least, most]) => [
    Number(least),
    Number(most ?? 0),
  ]);
  if (counts.some((count) => count > patternRepeats))
    return `repeats a part of its pattern more than ${patternRepeats} times`;
  const tried = plan(env, parse("text.matches(pattern)"))({ text: "", pattern } as Record<string, CelInput>);
  return isCelError(tried) ? "has a pattern that is not a valid RE2 expression" : undefined;
}
