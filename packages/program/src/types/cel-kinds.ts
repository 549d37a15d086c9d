import { nearest } from "@svc/catalog";
import { libraryFunctions } from "../functions/index.ts";
import { schemaPath } from "../read/shape-words.ts";
import type { CelKind, Signature } from "./cel-signature.ts";

/**
 * The result of calling a function or operator in an expression. `kind`: the kind of its value. `signature`: for a function, the signature
 * that matched.
 */
export type CelResult = { readonly kind: CelKind; readonly signature?: Signature };

/** Why a call does not fit the signatures of its function. `isYounger`: true if the rule is newer than version 0.1 of programs. */
type KindFault = {
  readonly fault: string;
  readonly hint: string;
  readonly isYounger?: boolean;
  /** The type of the function's result, if it is known although the arguments do not fit. */
  readonly gives?: CelKind;
};

const any: readonly CelKind[] = [];
const times: readonly CelKind[] = ["timestamp", "duration"];
const cast = (gives: CelKind, ...takes: CelKind[]): Signature[] => [{ takes: [takes], gives }];
const getter: Signature[] = [
  { on: times, takes: [], gives: "int" },
  { on: times, takes: [["string"]], gives: "int" },
];
const onText: Signature[] = [{ on: ["string"], takes: [["string"]], gives: "bool" }];
const sized: readonly CelKind[] = ["list", "map", "string", "bytes"];

/** The functions of CEL itself, with their signatures. In `takes`, an empty list of kinds means that every kind is accepted. */
const standard: Readonly<Record<string, readonly Signature[]>> = {
  size: [
    { takes: [sized], gives: "int" },
    { on: sized, takes: [], gives: "int" },
  ],
  contains: onText,
  startsWith: onText,
  endsWith: onText,
  matches: onText,
  int: cast("int", "int", "uint", "double", "string", "timestamp", "duration"),
  uint: cast("uint", "int", "uint", "double", "string"),
  double: cast("double", "int", "uint", "double", "string"),
  bool: cast("bool", "bool", "string"),
  string: cast("string", "string", "bool", "int", "uint", "double", "bytes", "timestamp", "duration"),
  timestamp: cast("timestamp", "timestamp", "string", "int"),
  duration: cast("duration", "duration", "string", "int"),
  bytes: cast("bytes", "bytes", "string"),
  dyn: [{ takes: [any], gives: "dyn" }],
  ...Object.fromEntries(
    [
      "FullYear",
      "Month",
      "DayOfMonth",
      "Date",
      "DayOfWeek",
      "DayOfYear",
      "Hours",
      "Minutes",
      "Seconds",
      "Milliseconds",
    ].map((unit) => [`get${unit}`, getter]),
  ),
};

/** The functions of CEL and of its libraries, by name. */
const functions: ReadonlyMap<string, readonly Signature[]> = new Map([
  ...Object.entries(standard),
  ...[...Map.groupBy(libraryFunctions, ({ name }) => name)].map(
    ([name, forms]) => [name, forms.flatMap(({ signatures }) => signatures)] as const,
  ),
]);

const numbers: readonly CelKind[] = ["int", "uint", "double"];
const logic: ReadonlySet<string> = new Set(["_&&_", "_||_", "!_", "@not_strictly_false"]);
const comparisons: ReadonlySet<string> = new Set(["_<_", "_<=_", "_>_", "_>=_"]);
const arithmetic: ReadonlySet<string> = new Set(["_+_", "_-_", "_*_", "_/_", "_%_"]);

/** Returns the type of a function's or operator's result, or the reason why it does not accept its arguments. */
export function kindOfCall(
  name: string,
  receiver: CelKind | undefined,
  kinds: readonly CelKind[],
): CelResult | KindFault {
  const found = kindOfOperator(name, kinds);
  if (found === undefined) return kindOfFunction(name, receiver, kinds);
  return typeof found === "string" ? { kind: found } : found;
}

/** True if expressions have a function of this name. The name includes the namespace, as in `math.abs`. */
export function isFunction(name: string): boolean {
  return functions.has(name);
}

/** Names of all functions that expressions can call. */
export const functionNames: readonly string[] = [...functions.keys()];

/**
 * Returns every function with its signatures as texts, such as `string.contains(string): bool`. A function with both forms, such as `size`,
 * is there twice: as one that is called on a value (`isMethod`), and as one that is not.
 */
export function functionForms(): readonly { name: string; isMethod: boolean; texts: readonly string[] }[] {
  return [...functions].flatMap(([name, forms]) =>
    [...Map.groupBy(forms, ({ on }) => on !== undefined)].map(([isMethod, own]) => ({
      ...{ name, isMethod },
      texts: [...new Set(own.map((form) => `${signatureText(name, form)}: ${givesText(form)}`))],
    })),
  );
}

/** Returns the type of a function's result as text. A result of the type of its value has no type of its own, so it is `any`. */
function givesText({ gives, on = [], takes }: Signature): string {
  if (gives !== "first") return gives === "dyn" ? "any" : gives;
  const [only = "any", ...more] = on.length === 0 ? (takes[0] ?? []) : on;
  return more.length === 0 ? only : "any";
}

function kindOfOperator(name: string, kinds: readonly CelKind[]): CelKind | KindFault | undefined {
  const [left = "dyn", right = "dyn"] = kinds;
  if (logic.has(name)) return kinds.every((kind) => kind === "bool" || kind === "dyn") ? "bool" : notBool(kinds);
  if (name === "_?_:_") return left === "bool" || left === "dyn" ? sameKind(right, kinds[2] ?? "dyn") : notBool([left]);
  if (name === "_==_" || name === "_!=_") return mayEqual(left, right) ? "bool" : neverEqual(name, left, right);
  if (comparisons.has(name)) return isComparable(left, right) ? "bool" : mismatch(name, left, right);
  if (name === "@in") {
    return ["list", "map", "dyn"].includes(right) ? "bool" : { fault: `searches ${right}`, hint: "use a list" };
  }
  if (arithmetic.has(name)) return kindOfArithmetic(name, left, right);
  if (name === "-_") {
    return [...numbers, "dyn"].includes(left) ? left : { fault: `negates ${left}`, hint: "negate a number" };
  }
  return undefined;
}

const wholeList = `see $defs/expression of ${schemaPath} for all functions`;

const firstItem = "take the first item by its position: list[0], if size(list) > 0";
const lastItem = "take the last item by its position: list[size(list) - 1], if size(list) > 0";

/** Hints for functions of other languages that do not exist in CEL, by their names. */
const otherWays: Readonly<Record<string, string>> = {
  first: firstItem,
  head: firstItem,
  last: lastItem,
  pop: lastItem,
  getDay: "use getDayOfWeek(), 0 for Sunday; getDate() is the day of the month",
};

/**
 * Returns a hint for an unknown function: another way to do the same, a function with a similar name, or functions for the same purpose.
 */
function hintOfUnknown(name: string, of: CelKind | undefined): string {
  const otherWay = of === "map" || !Object.hasOwn(otherWays, name) ? undefined : otherWays[name];
  if (otherWay !== undefined) return otherWay;
  const near = nearest(name, functionNames);
  if (near !== undefined) {
    const forms = (functions.get(near) ?? []).map((signature) => signatureText(near, signature));
    return `use ${forms.join(" or ")}; ${wholeList}`;
  }
  const behind = name.slice(0, name.indexOf(".") + 1);
  const kin = functionNames.filter((other) => {
    if (behind !== "") return other.startsWith(behind);
    return of !== undefined && functions.get(other)?.some(({ on }) => on?.includes(of));
  });
  const what = behind === "" ? `${of} has` : "there are";
  return kin.length === 0 ? wholeList : `${what} ${kin.join(", ")}; ${wholeList}`;
}

/**
 * Returns the type of the value that a function returns for arguments of the given types. If the function does not accept such arguments,
 * returns the reason.
 */
function kindOfFunction(name: string, receiver: CelKind | undefined, kinds: readonly CelKind[]): CelResult | KindFault {
  const signatures = functions.get(name);
  if (signatures === undefined) {
    return { fault: `calls ${name}(), which is not a function here`, hint: hintOfUnknown(name, receiver ?? kinds[0]) };
  }
  const fits = (wanted: readonly CelKind[], kind: CelKind) =>
    wanted.length === 0 || kind === "dyn" || wanted.includes(kind);
  const found = signatures.filter(({ on, takes }) => {
    if ((on === undefined) !== (receiver === undefined)) return false;
    if (on !== undefined && receiver !== undefined && !fits(on, receiver)) return false;
    return takes.length === kinds.length && takes.every((wanted, index) => fits(wanted, kinds[index] ?? "dyn"));
  });
  const [first, ...others] = found.map((signature) => givenBy(signature, receiver ?? kinds[0] ?? "dyn"));
  if (first !== undefined) return others.every(({ kind }) => kind === first.kind) ? first : { kind: "dyn" };
  const given = `${receiver === undefined ? "" : `${receiver}.`}${name}(${kinds.join(", ")})`;
  const isSought = name === "contains" && receiver === "list";
  const hint = isSought
    ? "search for an item with in: x in list"
    : `its form is ${signatures.map((one) => signatureText(name, one)).join(" or ")}`;
  return { fault: `calls ${given}, but ${name} does not take these types`, hint };
}

/** Returns a signature as text, such as string.contains(string). */
function signatureText(name: string, { on, takes }: Signature): string {
  const kinds = takes.map((wanted) => (wanted.length === 0 ? "any" : wanted.join("|")));
  return `${on === undefined ? "" : `${on.join("|")}.`}${name}(${kinds.join(", ")})`;
}

function givenBy(signature: Signature, first: CelKind): CelResult {
  const { gives, on = signature.takes[0] ?? [] } = signature;
  if (gives !== "first") return { kind: gives, signature };
  const [only, ...more] = on;
  return { kind: first === "dyn" && only !== undefined && more.length === 0 ? only : first, signature };
}

function kindOfArithmetic(name: string, left: CelKind, right: CelKind): CelKind | KindFault {
  if (left !== "dyn" && right !== "dyn" && (times.includes(left) || times.includes(right))) {
    return kindOfTimes(name, left, right);
  }
  if (left === "dyn" || right === "dyn") return "dyn";
  const [first, second] = [left, right].toSorted();
  if (left !== right) return mismatch(name, left, right, first === "double" && second === "int");
  const isJoined = name === "_+_" && ["string", "list", "bytes"].includes(left);
  const isDoubleRest = name === "_%_" && left === "double";
  return isJoined || (numbers.includes(left) && !isDoubleRest) ? left : mismatch(name, left, right);
}

/** Returns the type of the result of `+` or `-` in an expression with times or durations. */
function kindOfTimes(name: string, left: CelKind, right: CelKind): CelKind | KindFault {
  const given = sums[`${left} ${name.replaceAll("_", "")} ${right}`];
  if (given !== undefined) return given;
  return { ...mismatch(name, left, right), isYounger: times.includes(left) && times.includes(right) };
}

const sums: Readonly<Record<string, CelKind>> = {
  "timestamp + duration": "timestamp",
  "duration + timestamp": "timestamp",
  "duration + duration": "duration",
  "timestamp - timestamp": "duration",
  "timestamp - duration": "timestamp",
  "duration - duration": "duration",
};

function isComparable(left: CelKind, right: CelKind): boolean {
  if (left === "dyn" || right === "dyn") return left !== "map" && right !== "map";
  if (numbers.includes(left) && numbers.includes(right)) return true;
  return left === right && ["bool", "string", "bytes", "timestamp", "duration"].includes(left);
}

/** True if values of two kinds can be equal. A value with a declared type may still be null. */
function mayEqual(left: CelKind, right: CelKind): boolean {
  if (left === right || [left, right].some((kind) => kind === "dyn" || kind === "null")) return true;
  return numbers.includes(left) && numbers.includes(right);
}

function neverEqual(name: string, left: CelKind, right: CelKind): KindFault {
  const other = left === "string" ? right : left;
  const isText = left === "string" || right === "string";
  const hint = !isText
    ? "give both sides the same type"
    : numbers.includes(other)
      ? "write the number without quotes, as in row.id == 4711, or convert it to a text: string(row.id) == '4711'"
      : times.includes(other)
        ? `convert the text to a ${other}: ${other}(…)`
        : other === "bool"
          ? "write true or false without quotes"
          : other === "list"
            ? "search for an item of the list: list.exists(x, x == 'a'), or x.field for a list of objects"
            : "name a field of the object";
  const fault = `compares ${left} ${name.replaceAll("_", "")} ${right}, which are never equal`;
  return { fault, hint, isYounger: true, gives: "bool" };
}

function sameKind(left: CelKind, right: CelKind): CelKind {
  return left === right ? left : "dyn";
}

function notBool(kinds: readonly CelKind[]): KindFault {
  const found = kinds.find((kind) => kind !== "bool" && kind !== "dyn");
  return {
    fault: `uses ${found} as true or false`,
    hint: "compare it with a value, so that the result is true or false",
  };
}

function mismatch(name: string, left: CelKind, right: CelKind, isNumber = false): KindFault {
  const operator = name.replaceAll("_", "");
  const hint = isNumber
    ? "JSON numbers are doubles: write 1.0, or convert with double() or int()"
    : conversionHint(name, [left, right]);
  return { fault: `has ${left} ${operator} ${right}, but the operator does not take these types`, hint };
}

function conversionHint(name: string, kinds: readonly CelKind[]): string {
  if (kinds.includes("duration") && kinds.some((kind) => numbers.includes(kind))) {
    return 'write a duration instead of the number, in hours, minutes and seconds: duration("72h") for three days';
  }
  const others = kinds.filter((kind) => kind !== "string");
  if (others.length !== 1) return "give both sides the same type";
  if (others[0] === "list") return "join a list of texts: list.join(', ')";
  if (others[0] === "map") return "name a field of the object";
  if (name === "_+_") return `convert the ${others[0]} to a text: string(…)`;
  if (others[0] === "duration")
    return 'convert the text to a duration, in hours, minutes and seconds: duration("168h")';
  if (others[0] === "timestamp") {
    return 'convert the text to a timestamp: timestamp(…), or for a date timestamp(… + "T00:00:00Z")';
  }
  if (others[0] !== undefined && numbers.includes(others[0])) {
    return "write the number without quotes, as in row.value > 100.0, or convert the text to a number: double(…)";
  }
  return "give both sides the same type";
}
