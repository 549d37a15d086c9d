import { createTestDatabase } from "@svc/testing/database";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { arrayLiteral, bytesArrayLiteral, statement } from "./statement.ts";

const { db, drop } = await createTestDatabase({ isEmpty: true });
afterAll(drop);

const texts = statement<{ values: (string | null)[] }>("test_texts", "select to_json($1::text[]) as values");
const textList = statement<{ values: (string | null)[] }>("test_text_list", "select $1::text[] as values");
const numberList = statement<{ values: number[] }>("test_number_list", "select $1::int4[] as values");
const numbers = statement<{ values: number[] }>("test_numbers", "select to_json($1::float8[]) as values");
const bytes = statement<{ value: Buffer | null }>("test_bytes", "select value from unnest($1::bytea[]) as value");
const integers = statement<{ values: (string | null)[] }>(
  "test_integers",
  "select to_json($1::int8[]::text[]) as values",
);

// PostgreSQL's type text can hold every character except U+0000.
const text = fc.string({ unit: "binary" }).map((value) => value.replaceAll("\0", "").toWellFormed());
const troublesome = fc.constantFrom(
  "",
  "NULL",
  "null",
  '"',
  "\\",
  "{}",
  "{a,b}",
  "a,b",
  "\n",
  "\t\u001f",
  "\\n",
  '\\"',
  " x ",
  "é 漢 😀",
);

test("every text arrives unchanged", async () => {
  const element = fc.oneof(text, troublesome, fc.constant(null));
  await fc.assert(
    fc.asyncProperty(fc.array(element), async (elements) => {
      const [row] = await texts(db, [arrayLiteral(elements)]);
      expect(row?.values).toEqual(elements);
      const [list] = await textList(db, [arrayLiteral(elements)]);
      expect(list?.values).toEqual(elements);
    }),
    { numRuns: 200 },
  );
});

test("a list of int4 is read as numbers", async () => {
  const elements = [0, -1, 2_147_483_647];
  const rows = await Promise.all([numberList(db, [arrayLiteral(elements)]), numberList(db, ["{}"])]);
  expect(rows.map(([row]) => row?.values)).toEqual([elements, []]);
});

test("every number arrives unchanged, including those that JSON lacks", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
      async (elements) => {
        const [row] = await numbers(db, [arrayLiteral(elements)]);
        expect(row?.values.map(Number)).toEqual(elements.map((value) => value + 0));
      },
    ),
    { numRuns: 50 },
  );
  const [row] = await numbers(db, [arrayLiteral([1.5, Number.POSITIVE_INFINITY, Number.NaN])]);
  expect(row?.values.map(Number)).toEqual([1.5, Number.POSITIVE_INFINITY, Number.NaN]);
});

test("a bigint keeps all its digits", async () => {
  const [row] = await integers(db, [arrayLiteral([1n, 9_223_372_036_854_775_807n, null])]);
  expect(row?.values).toEqual(["1", "9223372036854775807", null]);
});

test("every byte string arrives unchanged", async () => {
  const element = fc.option(fc.uint8Array({ maxLength: 64 }));
  await fc.assert(
    fc.asyncProperty(fc.array(element), async (elements) => {
      const rows = await bytes(db, [bytesArrayLiteral(elements)]);
      expect(rows.map(({ value }) => value)).toEqual(elements.map((value) => value && Buffer.from(value)));
    }),
    { numRuns: 100 },
  );
});

test("a lone surrogate becomes the replacement character, next to others that stay", async () => {
  const [row] = await texts(db, [arrayLiteral(["a\ud800b", '"'])]);
  expect(row?.values).toEqual(["a\ufffdb", '"']);
});

test("U+0000 is refused, not stored as something else", async () => {
  await expect(texts(db, [arrayLiteral(["a\0b"])])).rejects.toMatchObject({ code: "22021" });
});
