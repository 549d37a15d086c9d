import fc from "fast-check";
import { expect, test } from "vitest";
import { parseExactJson, RepeatedNameError } from "./exact-json.ts";
import { holdsMoreThan, measureJson, repeatsName } from "./json-size.ts";
import { repeatsNameInTurns } from "./sliced-json.ts";

const measure = (text: string) => measureJson(text, Number.POSITIVE_INFINITY);

function valuesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, child) => sum + valuesOf(child), 1);
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce((most: number, child) => Math.max(most, depthOf(child)), 0);
}

test("values and depth are those of the parsed value, for any spelling and any texts", () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[[\]{},"\\: a]{0,8}$/));
  const values = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      texts,
      fc.constantFrom(null, true, 1.5),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(texts, tie("value"), { maxKeys: 4 }),
    ),
  })).value;
  fc.assert(
    fc.property(values, fc.constantFrom(undefined, "\t", "  "), (value, indent) => {
      const parsed: unknown = JSON.parse(JSON.stringify(value));
      const expected = { values: valuesOf(parsed), depth: depthOf(parsed) };
      expect(measure(JSON.stringify(value, null, indent))).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("empty lists and objects count once, with or without space in them", () => {
  expect(measure("[{},[ ],{\n}]")).toEqual({ values: 4, depth: 2 });
});

test("counting ends beyond the most, and a text without end ends it too", () => {
  expect(measureJson(`[${"1,".repeat(1_000)}1]`, 10).values).toBe(11);
  for (const text of ["", '"', '"\\', '"\\"', "]]]", "[[["]) expect(measure(text).values).toBeGreaterThan(0);
});

test("a value with more values or characters than allowed is detected, also if one part occurs several times", () => {
  const small = { a: ["bc", 1, null], d: {} };
  expect(holdsMoreThan(small, { values: 6, characters: 4 })).toBe(false);
  expect(holdsMoreThan(small, { values: 5, characters: 4 })).toBe(true);
  expect(holdsMoreThan(small, { values: 6, characters: 3 })).toBe(true);
  expect(holdsMoreThan("x".repeat(11), { values: 1, characters: 10 })).toBe(true);
  const shared = "x".repeat(1_000);
  expect(
    holdsMoreThan(
      Array.from({ length: 50 }, () => shared),
      { values: 100, characters: 49_999 },
    ),
  ).toBe(true);
});

test("a repeated name is found at any depth, in one piece and in turns", async () => {
  const members = Array.from({ length: 20_000 }, (_, at) => `"n${at}":[${at},{"a":":"}]`).join(",");
  const texts: [text: string, isRepeated: boolean][] = [
    ['{"a":1,"b":{"a":"\\"a\\":"}}', false],
    ['{"a":1,"a":1}', true],
    ['[{"a":{"b":1,"\\u0062":2}}]', true],
    ['{"__proto__":1,"toString":2}', false],
    ['"a:b"', false],
    [`{${members}}`, false],
    [`{${members},"n7":1}`, true],
  ];
  let turns = 0;
  for (const [text, isRepeated] of texts) {
    const value = parseExactJson(text);
    expect([text.slice(0, 40), repeatsName(text, value)]).toEqual([text.slice(0, 40), isRepeated]);
    expect(await repeatsNameInTurns(text, value, async () => void turns++)).toBe(isRepeated);
    expect(() => parseExactJson(text, { hasUniqueNames: true })).toSatisfy((parse: () => void) => {
      try {
        parse();
        return !isRepeated;
      } catch (error) {
        return isRepeated && error instanceof RepeatedNameError;
      }
    });
  }
  expect(turns).toBeGreaterThan(0);
});
