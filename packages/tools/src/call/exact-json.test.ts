import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonTooLargeError, parseExactJson, unsafeIntegers } from "./exact-json.ts";

test("integers of any length come out as they came in", () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.string(), (number, key) => {
      const json = `{${JSON.stringify(key)}:[${number}]}`;
      expect(JSON.stringify(parseExactJson(json))).toBe(json);
    }),
  );
});

test("everything else is what JSON.parse makes of it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value);
      expect(JSON.stringify(parseExactJson(json))).toBe(JSON.stringify(JSON.parse(json)));
    }),
  );
  expect(parseExactJson('{"id":"1234567890123456789","n":12345678901234567}')).toHaveProperty(
    "id",
    "1234567890123456789",
  );
});

test("more values than may be read are refused before anything is parsed", () => {
  expect(parseExactJson("[1,[2]]", { valuesMax: 4 })).toEqual([1, [2]]);
  expect(() => parseExactJson("[1,[2,3]]", { valuesMax: 4 })).toThrow(JsonTooLargeError);
  expect(() => parseExactJson("[1,2,3,4,", { valuesMax: 4 })).toThrow(JsonTooLargeError);
});

test("unsafe integers are found by pointer, every one of them", () => {
  const json = '{"a":[1,9007199254740993],"b/c~d":{"e":-12345678901234567890},"f":"12345678901234567890","g":1.5}';
  expect(unsafeIntegers(json)).toEqual(["/a/1", "/b~1c~0d/e"]);
  expect(unsafeIntegers('{"a":9007199254740991}')).toEqual([]);
});

test("what is nested too deeply to be written again is refused, with and without long integers", () => {
  const nested = (levels: number, inner: string) => `${"[".repeat(levels)}${inner}${"]".repeat(levels)}`;
  for (const inner of ["1", "12345678901234567890"]) {
    expect(JSON.stringify(parseExactJson(nested(400, inner)))).toBe(nested(400, inner));
    expect(() => parseExactJson(nested(200_000, inner))).toThrow(SyntaxError);
    expect(() => unsafeIntegers(nested(200_000, inner))).toThrow(SyntaxError);
  }
});
