import { expect, test } from "vitest";
import { type CelBindings, compileExpression } from "./cel.ts";

const run = (source: string, bindings: CelBindings = {}) => compileExpression({ source, pointer: "" })(bindings);

test.each<[string, CelBindings, boolean]>([
  ["size(row.attendees) > params.minGuests", { row: { attendees: [1, 2] }, params: { minGuests: 1 } }, true],
  ["rows.open > 50", { rows: { open: 50 } }, false],
  ["has(row.summary) && row.summary.startsWith('A')", { row: {} }, false],
  ["has(steps.me) && steps.me.id > 0.0", { steps: { me: { id: 5 } } }, true],
  ["row.tags.exists(t, t == 'a')", { row: { tags: ["b", "a"] } }, true],
  ["row.amount * 2.0 == 3.0", { row: { amount: 1.5 } }, true],
  ["row.gone == null", { row: { gone: null } }, true],
])("%s", (source, bindings, value) => {
  expect(run(source, bindings)).toEqual({ value });
});

test.each<[string, CelBindings]>([
  ["row.missing == 1", { row: {} }],
  ["row.n > 1", { row: { n: null } }],
  ["row.n + 1 > 2", { row: { n: 1 } }],
  ["row.text", { row: { text: "x" } }],
  ["1 / 0 == 1", {}],
  ["rows.open > 1", {}],
  ["row.", {}],
])("%s has an error for its outcome, and throws nothing", (source, bindings) => {
  expect(run(source, bindings)).toHaveProperty("error");
});

test("the names of JavaScript's own objects are no fields", () => {
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    expect(run(`has(row.${name})`, { row: { a: 1 } })).toEqual({ value: false });
  }
});

test("an expression is compiled once", () => {
  const expression = { source: "true", pointer: "" };
  expect(compileExpression(expression)).toBe(compileExpression(expression));
});

test("lists of at most 1,000 items are walked through", () => {
  const list = (length: number) => ({ row: { list: Array.from({ length }, (_, index) => index) } });
  expect(run("row.list.all(x, x >= 0.0)", list(1000))).toEqual({ value: true });
  expect(run("row.list.all(x, x >= 0.0)", list(1001))).toHaveProperty("error");
});
