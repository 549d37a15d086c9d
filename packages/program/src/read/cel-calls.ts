import { parse } from "@bufbuild/cel";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";

// Rewrites calls of functions in other languages as CEL calls, for hints.

/** Names of functions in other languages, each with the CEL method that does the same. */
const methods: Readonly<Record<string, string>> = {
  contains: "contains",
  includes: "contains",
  startsWith: "startsWith",
  startswith: "startsWith",
  starts_with: "startsWith",
  endsWith: "endsWith",
  endswith: "endsWith",
  ends_with: "endsWith",
  matches: "matches",
  match: "matches",
  regex: "matches",
  regex_match: "matches",
  lower: "lowerAscii",
  lowercase: "lowerAscii",
  toLower: "lowerAscii",
  upper: "upperAscii",
  uppercase: "upperAscii",
  toUpper: "upperAscii",
  trim: "trim",
  strip: "trim",
  split: "split",
  replace: "replace",
  substring: "substring",
  substr: "substring",
  indexOf: "indexOf",
  join: "join",
  sort: "sort",
  unique: "distinct",
  distinct: "distinct",
  sum: "sum",
};

type Rewrite = (args: readonly string[]) => string;

/** Functions of other languages that CEL writes in another way. For each, a function makes the CEL text from the texts of the arguments. */
const functions: Readonly<Record<string, Rewrite>> = {
  len: ([of = ""]) => `size(${of})`,
  length: ([of = ""]) => `size(${of})`,
  count: ([of = ""]) => `size(${of})`,
  isEmpty: ([of = ""]) => `size(${of}) == 0`,
  empty: ([of = ""]) => `size(${of}) == 0`,
  exists: ([of = ""]) => `has(${of})`,
  defined: ([of = ""]) => `has(${of})`,
  isset: ([of = ""]) => `has(${of})`,
  first: ([of = ""]) => `${of}[0]`,
  last: ([of = ""]) => `${of}[size(${of}) - 1]`,
  concat: (args) => args.join(" + "),
  str: ([of = ""]) => `string(${of})`,
  to_string: ([of = ""]) => `string(${of})`,
  text: ([of = ""]) => `string(${of})`,
  float: ([of = ""]) => `double(${of})`,
  number: ([of = ""]) => `double(${of})`,
  toNumber: ([of = ""]) => `double(${of})`,
  parseFloat: ([of = ""]) => `double(${of})`,
  parseInt: ([of = ""]) => `int(${of})`,
  toInt: ([of = ""]) => `int(${of})`,
  date: ([of = ""]) => `timestamp(${of} + "T00:00:00Z")`,
  datetime: ([of = ""]) => `timestamp(${of})`,
  parseDate: ([of = ""]) => `timestamp(${of})`,
  Date: ([of = ""]) => `timestamp(${of})`,
  toDate: ([of = ""]) => `timestamp(${of})`,
  days: ([of = ""]) => hours(of, 24),
  hours: ([of = ""]) => hours(of, 1),
  weeks: ([of = ""]) => hours(of, 168),
  days_ago: ([of = ""]) => `now - ${hours(of, 24)}`,
  daysAgo: ([of = ""]) => `now - ${hours(of, 24)}`,
  ago: ([of = ""]) => `now - duration(${of})`,
  coalesce: ([of = "", other = ""]) => `(has(${of}) ? ${of} : ${other})`,
  iif: ([condition = "", yes = "", no = ""]) => `(${condition} ? ${yes} : ${no})`,
  IF: ([condition = "", yes = "", no = ""]) => `(${condition} ? ${yes} : ${no})`,
  abs: (args) => `math.abs(${args.join(", ")})`,
  min: (args) => `math.least(${args.join(", ")})`,
  max: (args) => `math.greatest(${args.join(", ")})`,
  least: (args) => `math.least(${args.join(", ")})`,
  greatest: (args) => `math.greatest(${args.join(", ")})`,
  round: (args) => roundedTo(args) ?? `math.round(${args.join(", ")})`,
  formatDate: ([of = ""]) => `string(${of}).substring(0, 10)`,
  format_date: ([of = ""]) => `string(${of}).substring(0, 10)`,
  floor: (args) => `math.floor(${args.join(", ")})`,
  ceil: (args) => `math.ceil(${args.join(", ")})`,
  sqrt: (args) => `math.sqrt(${args.join(", ")})`,
};

/** Returns CEL for a number rounded to a number of digits after the point. */
function roundedTo([of = "", digits = "", ...others]: readonly string[]): string | undefined {
  return others.length === 0 && /^\d$/.test(digits) ? `double('%.${digits}f'.format([${of}]))` : undefined;
}

/**
 * Returns the CEL expression for a time span of `count` times `each` hours. `count` is a number, or an expression from which the result
 * computes the span.
 */
export function hours(count: string | undefined = "", each = 1): string {
  const number = Number(count);
  return Number.isInteger(number) ? `duration("${number * each}h")` : `duration(string(int(${count}) * ${each}) + "h")`;
}

/** Pattern for a call without a receiver and without nested calls. So the innermost calls are found first. */
const call = /(?<![.\w])([A-Za-z_]\w*)\(([^()]*)\)/;

/** Returns the source with function calls in their CEL form. Quoted texts must already be removed from the source. */
export function rewriteCalls(source: string): string {
  let written = source;
  const done: string[] = [];
  // Each round handles one call: the call is rewritten, or it is put aside unchanged.
  for (let turn = 0; turn < 50; turn++) {
    const found = call.exec(written);
    if (found === null) break;
    const [whole, name = "", inner = ""] = found;
    done.push(
      rewriteCall(
        name,
        inner.split(",").map((argument) => argument.trim()),
      ) ?? whole,
    );
    written = written.replace(whole, () => `\uE001${done.length - 1}\uE001`);
  }
  const restored = /\uE001(\d+)\uE001/;
  for (let found = restored.exec(written); found !== null; found = restored.exec(written)) {
    const text = done[Number(found[1])] ?? "";
    written = written.replace(found[0], () => text);
  }
  return written;
}

function rewriteCall(name: string, args: readonly string[]): string | undefined {
  const [first, ...others] = args;
  if (first === undefined || first === "") return undefined;
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method !== undefined) return `${first}.${method}(${others.join(", ")})`;
  return Object.hasOwn(functions, name) ? functions[name]?.(args) : undefined;
}

/**
 * Limits of an expression (CEL) in a program: number of characters, number of nodes and levels in its syntax tree (after macros are
 * expanded), and number of list items over which it iterates. `pattern…`: limits of regular expressions.
 */
export const celLimits = {
  characters: 1024,
  nodes: 200,
  depth: 24,
  listItems: 1000,
  patternCharacters: 200,
  patternRepeats: 20,
};

/** Parses an expression. `fault`: the reason why it cannot be parsed. Never throws; nesting that is too deep is reported as a fault. */
export function parseExpression(source: string): { readonly tree: Expr } | { readonly fault: string } {
  if (source.length > celLimits.characters) {
    return { fault: `has ${source.length} characters; at most ${celLimits.characters} are allowed` };
  }
  try {
    return { tree: parse(source).expr };
  } catch (error) {
    if (error instanceof RangeError)
      return { fault: `is nested too deep; at most ${celLimits.depth} levels are allowed` };
    return { fault: error instanceof Error ? error.message.replace("<input>:", "") : "does not parse" };
  }
}
