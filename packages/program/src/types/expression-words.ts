import { functionForms } from "./cel-kinds.ts";

/**
 * A function, operator or variable of expressions, for people and editors. `signature`: how it is written, such as
 * `string.contains(string): bool`. `isMethod`: true if it is called on a value, after a dot.
 */
export type ExpressionWord = {
  readonly name: string;
  readonly signature: string;
  readonly summary: string;
  readonly isMethod: boolean;
};

/** One line about each function, by its name. */
const summaries: Readonly<Record<string, string>> = {
  size: "The number of items, fields, characters or bytes.",
  contains: "True if the text contains another text.",
  startsWith: "True if the text starts with another text.",
  endsWith: "True if the text ends with another text.",
  matches: "True if a part of the text matches the regular expression.",
  int: "A whole number from a number, text, time or duration.",
  uint: "A whole number that is not negative.",
  double: "A number from a number or text. JSON numbers are doubles.",
  bool: "True or false from the text true or false.",
  string: "The value as text.",
  timestamp: "A time from RFC 3339 text, or from seconds since 1970.",
  duration: 'A duration from text in hours, minutes and seconds, such as "168h".',
  bytes: "The bytes of a text in UTF-8.",
  dyn: "The value, without a check of its type.",
  getFullYear: "The year of a time.",
  getMonth: "The month of a time, 0 for January.",
  getDayOfMonth: "The day of the month, 0 for the first.",
  getDate: "The day of the month, 1 for the first.",
  getDayOfWeek: "The day of the week, 0 for Sunday.",
  getDayOfYear: "The day of the year, 0 for the first.",
  getHours: "The hour of a time, or the hours of a duration.",
  getMinutes: "The minute of a time, or the minutes of a duration.",
  getSeconds: "The second of a time, or the seconds of a duration.",
  getMilliseconds: "The milliseconds of a time or a duration.",
  charAt: "The character at an index.",
  indexOf: "The index of the first match, -1 if there is none.",
  lastIndexOf: "The index of the last match, -1 if there is none.",
  lowerAscii: "The text with the letters A to Z in lower case.",
  upperAscii: "The text with the letters a to z in upper case.",
  trim: "The text without spaces at its start and end.",
  substring: "The part of the text between two indexes.",
  replace: "The text with every match replaced by another text.",
  split: "The parts of the text between the separators.",
  join: "The texts of a list as one text.",
  format: "The text with its placeholders, such as %s, filled from a list.",
  "strings.quote": "The text as a quoted text.",
  "math.greatest": "The greatest of the numbers.",
  "math.least": "The least of the numbers.",
  "math.ceil": "The number rounded up.",
  "math.floor": "The number rounded down.",
  "math.round": "The nearest whole number. A half is rounded away from zero.",
  "math.trunc": "The number without its fraction.",
  "math.sqrt": "The square root.",
  "math.isNaN": "True if the value is not a number.",
  "math.isInf": "True if the number is infinite.",
  "math.isFinite": "True if the number is neither infinite nor NaN.",
  "math.abs": "The number without its sign.",
  "math.sign": "The sign of the number: -1, 0 or 1.",
  sort: "The items in order.",
  distinct: "The items without duplicates.",
  slice: "The items between two positions.",
  flatten: "The items of the lists inside the list.",
  sum: "The sum of the numbers.",
  reverse: "The items or characters in reverse order.",
  "lists.range": "The numbers from 0 up to a count.",
  "base64.encode": "The bytes as base64 text.",
  "base64.decode": "The bytes of a base64 text.",
  sha256: "The SHA-256 digest in lower-case hexadecimal digits.",
  md5: "The MD5 digest in lower-case hexadecimal digits.",
};

const word = (name: string, signature: string, summary: string, isMethod = false): ExpressionWord => ({
  ...{ name, signature, summary, isMethod },
});

/** The other words of expressions: variables, macros and operators. */
const others: readonly ExpressionWord[] = [
  word("now", "timestamp", "The time at which the step began."),
  word("has", "has(value.field): bool", "True if the field is present."),
  word("all", "list.all(item, condition): bool", "True if the condition is true for every item.", true),
  word("exists", "list.exists(item, condition): bool", "True if the condition is true for an item.", true),
  word("exists_one", "list.exists_one(item, condition): bool", "True if it is true for exactly one item.", true),
  word("map", "list.map(item, value): list", "The value that is computed from each item.", true),
  word("filter", "list.filter(item, condition): list", "The items for which the condition is true.", true),
  word("in", "value in list: bool", "True if the list contains the value."),
  word("&&", "bool && bool: bool", "True if both are true."),
  word("||", "bool || bool: bool", "True if at least one is true."),
  word("==", "value == value: bool", "True if both are equal."),
  word("!=", "value != value: bool", "True if they differ."),
  word("?", "bool ? value : value", "The first value if the condition is true, else the second."),
];

/** Returns every function, operator and variable that expressions can use, each with its signature and a short explanation. */
export function expressionWords(): readonly ExpressionWord[] {
  const functions = functionForms().map(({ name, texts, isMethod }) =>
    word(name, texts.slice(0, 2).join(" or "), summaries[name] ?? "", isMethod),
  );
  return [...functions, ...others];
}
