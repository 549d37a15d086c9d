import { expect, test } from "vitest";
import { completionsAt, namesAt } from "./complete.ts";

const named = (name: string, type = "string") => ({ name, type, $typeName: "svc.v1.ProgramName" as const });
const word = (name: string, signature: string, isMethod = false) => ({
  ...{ name, signature, summary: `What ${name} does.`, isMethod },
  $typeName: "svc.v1.ExpressionWord" as const,
});
const known = {
  names: [named("row.email"), named("row.amount", "number"), named("input.chat"), named("steps.sum.of", "number")],
  words: [
    word("size", "size(list|map|string|bytes): int"),
    word("startsWith", "string.startsWith(string): bool", true),
    word("math.abs", "math.abs(double): double"),
    word("now", "timestamp"),
    word("in", "value in list: bool"),
    word("&&", "bool && bool: bool"),
  ],
};
const textsAt = (before: string, isAsked = false) =>
  completionsAt(before, known, isAsked).options.map(({ text }) => text);

test("the beginning of a name or function is completed, and a later part of a name is enough", () => {
  expect(textsAt("ro")).toEqual(["row.email", "row.amount"]);
  expect(textsAt("ema")).toEqual(["row.email"]);
  expect(textsAt("size(row.email) > 1.0 && n")).toEqual(["now"]);
  expect(textsAt("si")).toEqual(["size("]);
  expect(textsAt("")).toEqual([]);
  expect(textsAt("", true)).toEqual([
    "row.email",
    "row.amount",
    "input.chat",
    "steps.sum.of",
    "size(",
    "math.abs(",
    "now",
  ]);
});

test("after a dot there are fields and functions of the value, or those of the namespace", () => {
  expect(textsAt("row.")).toEqual(["email", "amount", "startsWith("]);
  expect(completionsAt("row.em", known, false)).toMatchObject({
    typed: 2,
    options: [{ text: "email", detail: "string" }],
  });
  expect(textsAt("row.email.st")).toEqual(["startsWith("]);
  expect(textsAt('"a".st')).toEqual(["startsWith("]);
  expect(textsAt("math.")).toEqual(["abs("]);
});

test("after a value there are operators, and nothing inside a quoted text or a number", () => {
  expect(textsAt("row.email ", true)).toEqual(["in ", "&& "]);
  expect(textsAt("row.email i")).toEqual(["in "]);
  expect(textsAt("row.email in ro")).toEqual(["row.email", "row.amount"]);
  expect([textsAt("row.email == 'ro"), textsAt('row.email == "it\\"s ro'), textsAt("1.5")]).toEqual([[], [], []]);
});

test("a reference is completed by names only", () => {
  expect(namesAt("steps.", known.names).options.map(({ text }) => text)).toEqual(["steps.sum.of"]);
  expect(namesAt("", known.names).options).toHaveLength(4);
});
