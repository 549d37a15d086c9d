import { typesOf, type ValueType } from "./schema-type.ts";

/** The type of a part of an expression; `dyn` where it is not known before it runs. */
export type CelKind =
  | "dyn"
  | "null"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "list"
  | "map"
  | "timestamp"
  | "duration";

/** What JSON values of a schema are to an expression. Numbers are doubles, whole ones too. */
export function kindOfType(type: ValueType): CelKind {
  const [only, ...others] = typesOf(type) ?? [];
  if (others.length > 0) return "dyn";
  switch (only) {
    case undefined:
      return "dyn";
    case "boolean":
      return "bool";
    case "number":
      return "double";
    case "array":
      return "list";
    case "object":
      return "map";
    default:
      return only;
  }
}

type KindFault = { readonly fault: string; readonly hint: string };

type Signature = {
  readonly on?: readonly CelKind[];
  readonly takes: readonly (readonly CelKind[])[];
  readonly gives: CelKind;
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

/** The functions that expressions may call. An empty list of kinds takes any. */
const functions: Readonly<Record<string, readonly Signature[]>> = {
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

const numbers: readonly CelKind[] = ["int", "uint", "double"];
const logic: ReadonlySet<string> = new Set(["_&&_", "_||_", "!_", "@not_strictly_false"]);
const comparisons: ReadonlySet<string> = new Set(["_<_", "_<=_", "_>_", "_>=_"]);
const arithmetic: ReadonlySet<string> = new Set(["_+_", "_-_", "_*_", "_/_", "_%_"]);

/** The type that a function or operator gives, or why it cannot take what it is given. */
export function kindOfCall(
  name: string,
  receiver: CelKind | undefined,
  kinds: readonly CelKind[],
): CelKind | KindFault {
  const [left = "dyn", right = "dyn"] = kinds;
  if (logic.has(name)) return kinds.every((kind) => kind === "bool" || kind === "dyn") ? "bool" : notBool(kinds);
  if (name === "_?_:_") return left === "bool" || left === "dyn" ? sameKind(right, kinds[2] ?? "dyn") : notBool([left]);
  if (name === "_==_" || name === "_!=_") return "bool";
  if (comparisons.has(name)) return isComparable(left, right) ? "bool" : mismatch(name, left, right);
  if (name === "@in") {
    return ["list", "map", "dyn"].includes(right)
      ? "bool"
      : { fault: `looks for something in ${right}`, hint: "use a list" };
  }
  if (arithmetic.has(name)) return kindOfArithmetic(name, left, right);
  if (name === "-_") {
    return [...numbers, "dyn"].includes(left) ? left : { fault: `negates ${left}`, hint: "negate a number" };
  }
  return kindOfFunction(name, receiver, kinds);
}

function kindOfFunction(name: string, receiver: CelKind | undefined, kinds: readonly CelKind[]): CelKind | KindFault {
  const signatures = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (signatures === undefined) {
    return { fault: `calls ${name}(), which is no function here`, hint: `use ${Object.keys(functions).join(", ")}` };
  }
  const fits = (wanted: readonly CelKind[], kind: CelKind) =>
    wanted.length === 0 || kind === "dyn" || wanted.includes(kind);
  const found = signatures.find(({ on, takes }) => {
    if ((on === undefined) !== (receiver === undefined)) return false;
    if (on !== undefined && receiver !== undefined && !fits(on, receiver)) return false;
    return takes.length === kinds.length && takes.every((wanted, index) => fits(wanted, kinds[index] ?? "dyn"));
  });
  if (found !== undefined) return found.gives;
  const given = `${receiver === undefined ? "" : `${receiver}.`}${name}(${kinds.join(", ")})`;
  return { fault: `calls ${given}, which ${name} cannot take`, hint: "mind the number and types of its arguments" };
}

function kindOfArithmetic(name: string, left: CelKind, right: CelKind): CelKind | KindFault {
  if (left === "dyn" || right === "dyn") return "dyn";
  const [first, second] = [left, right].toSorted();
  if (times.includes(left) || times.includes(right)) {
    return times.includes(left) && times.includes(right) ? "dyn" : mismatch(name, left, right);
  }
  if (left !== right) return mismatch(name, left, right, first === "double" && second === "int");
  const isJoined = name === "_+_" && ["string", "list", "bytes"].includes(left);
  const isDoubleRest = name === "_%_" && left === "double";
  return isJoined || (numbers.includes(left) && !isDoubleRest) ? left : mismatch(name, left, right);
}

function isComparable(left: CelKind, right: CelKind): boolean {
  if (left === "dyn" || right === "dyn") return left !== "map" && right !== "map";
  if (numbers.includes(left) && numbers.includes(right)) return true;
  return left === right && ["bool", "string", "bytes", "timestamp", "duration"].includes(left);
}

function sameKind(left: CelKind, right: CelKind): CelKind {
  return left === right ? left : "dyn";
}

function notBool(kinds: readonly CelKind[]): KindFault {
  const found = kinds.find((kind) => kind !== "bool" && kind !== "dyn");
  return { fault: `takes ${found} for true or false`, hint: "compare it, so that it is true or false" };
}

function mismatch(name: string, left: CelKind, right: CelKind, isNumber = false): KindFault {
  const operator = name.replaceAll("_", "");
  const hint = isNumber
    ? "JSON numbers are doubles: write 1.0, or convert with double() or int()"
    : "give both sides one type";
  return { fault: `has ${left} ${operator} ${right}, which no operator takes`, hint };
}
