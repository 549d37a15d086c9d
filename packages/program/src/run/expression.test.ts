import { type JsonObject, parseExactJson } from "@svc/core";
import { expect, test } from "vitest";
import { type CelBindings, compileSource } from "./expression.ts";

type Named = CelBindings & { readonly row?: JsonObject | null };

const run = (source: string, { row = null, ...bindings }: Named = {}) =>
  compileSource(source).evaluate(bindings, [row])[0];

test.each<[string, Named, boolean]>([
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

test.each<[string, Named]>([
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

test.each<[string, boolean]>([
  ["row.id == 9007199254740993", true],
  ["row.id == 9007199254740992", false],
  ["row.id != params.other", true],
  ["row.id > params.other && row.id != 9007199254740992.0", true],
  ["row.list.exists(id, id == row.id)", true],
  ["row.unsigned > row.id", true],
  ["row.huge > 1e300", true],
  ["string(row.id) == '9007199254740993'", true],
])("a number that no double holds is compared by all its digits: %s", (source, value) => {
  const row = parseExactJson(
    '{"id":9007199254740993,"list":[1,9007199254740993],"unsigned":18446744073709551615,"huge":1e400}',
  ) as JsonObject;
  const params = parseExactJson('{"other":9007199254740992}') as JsonObject;
  expect(run(source, { row, params })).toEqual({ value });
});

test("lists of at most 1,000 items are walked through", () => {
  const list = (length: number) => ({ row: { list: Array.from({ length }, (_, index) => index) } });
  expect(run("row.list.all(x, x >= 0.0)", list(1000))).toEqual({ value: true });
  expect(run("row.list.all(x, x >= 0.0)", list(1001))).toHaveProperty("error");
});

test.each([
  ["row.owner.name == 'x'", ": row.owner; ask has(row.owner) first"],
  ["row.tags[3] == 'x'", ""],
  ["row.deep.list[0].id == 1.0", ": row.deep.list; ask has(row.deep.list) first"],
  ["has(row.owner) && true || row.size > 1.0", ": row.size; ask has(row.size) first"],
  ["row.a + row.b + row.c + row.d", ": row.a, row.b, row.c; ask has(row.a) first"],
  ["row['the owner'] == 'x'", ': row["the owner"]'],
  ["row.items.exists(item, item.price > 1.0)", ""],
])("%s says which field is absent, by the program's own name for it", (source, told) => {
  const row = { tags: ["a"], deep: { here: 1 }, items: [{ secret: "value" }] };
  const [outcome] = compileSource(source).evaluate({}, [row]);
  if (!(outcome && "error" in outcome)) throw new Error("has an answer");
  if (outcome.error.startsWith("reads a field")) expect(outcome.error).toBe(`reads a field that is absent${told}`);
  else expect(told).toBe("");
});

test("a conversion that fails tells what it takes, and not what it was given", () => {
  const { evaluate } = compileSource("timestamp(row.day) < now");
  expect(evaluate({ now: 0 }, [{ day: "2026-11-24" }])).toEqual([
    {
      error:
        'converts a value that has the wrong form: timestamp takes a text such as 2026-11-24T09:00:00Z; for a date, write timestamp(date + "T00:00:00Z")',
    },
  ]);
  // An empty text does not become 0, and a text that is not a number is an error, instead of being less than every number.
  for (const amount of ["12,50 EUR", "", " 12", "0x10", "1e"]) {
    expect(compileSource("double(row.amount) > 1.0").evaluate({}, [{ amount }])).toEqual([
      { error: "converts a value that has the wrong form: double takes a text such as 12.50" },
    ]);
  }
  for (const amount of ["12.50", "+2", ".5e2", "1E3"]) {
    expect(compileSource("double(row.amount) > 1.0").evaluate({}, [{ amount }])).toEqual([{ value: true }]);
  }
});
