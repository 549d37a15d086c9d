import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonTooLargeError, parseExactJson } from "./exact-json.ts";
import { isObject } from "./json.ts";
import { isRawJson, rawJson, scalarText, withPlainNumbers } from "./raw-json.ts";

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

test("numbers beyond 2^53 - 1 keep the form they have: digits, fractions, exponents, sizes that no double has", () => {
  const numbers = [
    "9007199254740993",
    "-9007199254740992",
    "100000000000000000000",
    "9007199254740993.25",
    "0.1234567890123456789",
    "4503599627370497.5",
    "0.10000000000000001",
    "1e-400",
    "-1E-400",
    "1.2345e-320",
    "-0",
    "-0.0",
    "-0e5",
    "1.7976931348623158e308",
    "9.007199254740993e15",
    "900719925.4740993e7",
    "1E400",
    "99999999999999e+295",
    "-1e999",
  ];
  for (const number of numbers) {
    for (const json of [number, ` ${number} `, `[1,${number}]`, `{"a": ${number}}`]) {
      const value = parseExactJson(json);
      expect(JSON.stringify(value), json).toBe(json.replaceAll(" ", ""));
    }
  }
  for (const number of [
    ...["9007199254740991", "-9007199254740991", "0.1", "1e15", "1E2", "1.0", "-0.5", "0e999", "5e-324", "1e21"],
    ...["0.30000000000000004", "2.2250738585072014e-308", "100000000000000000000e-20", "0.000000000000000000001"],
  ]) {
    expect(parseExactJson(number)).toBe(JSON.parse(number));
  }
});

test("a number that a double cannot hold is found anywhere in a text", () => {
  const long = fc.constantFrom(
    "0.1234567890123456789",
    "1e-400",
    "-0",
    "-0.00",
    "9007199254740993",
    "-9007199254740993.5",
    "1.23456789012345678e20",
    "1E400",
    "12345678901234567890",
  );
  const item = fc.oneof(
    { weight: 5, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: long },
  );
  fc.assert(
    fc.property(fc.array(item, { maxLength: 8 }), fc.nat(40), (items, spaces) => {
      const json = `${" ".repeat(spaces)}[${items.join(",")}]`;
      const values = parseExactJson(json) as unknown[];
      expect(values.map((value) => JSON.stringify(value))).toEqual(items);
    }),
  );
});

test("a number of a million digits, any digits, is read in some milliseconds", () => {
  const million = 1_000_000;
  const texts = [
    "1".repeat(million),
    `0.${"0".repeat(million)}1`,
    `1${"0".repeat(million)}`,
    `1.${"0".repeat(million)}`,
  ];
  for (const text of [
    ...texts,
    `1e${"9".repeat(million)}`,
    `-0.${"0".repeat(million)}`,
    `"${"-0".repeat(million / 2)}"`,
  ]) {
    const { user, system } = cpuOf(() => parseExactJson(text));
    expect((user + system) / 1000, text.slice(0, 8)).toBeLessThan(60);
  }
});

function cpuOf(run: () => unknown): NodeJS.CpuUsage {
  const before = process.cpuUsage();
  run();
  return process.cpuUsage(before);
}

test("a raw number is a scalar and not an object, for any digits", () => {
  const raw = rawJson("9007199254740993");
  expect([isRawJson(raw), isObject(raw), scalarText(raw)]).toEqual([true, false, "9007199254740993"]);
  for (const value of [{}, Object.create(null), { rawJSON: "1" }, [], null, 1, "x", undefined])
    expect(isRawJson(value)).toBe(false);
  expect([scalarText(1), scalarText("x"), scalarText(true)]).toEqual(["1", "x", "true"]);
  for (const value of [null, undefined, {}, [1]]) expect(scalarText(value)).toBeUndefined();
});

test("plain numbers replace raw ones at any depth, and values without raw numbers are not copied", () => {
  const value = parseExactJson('{"__proto__":[9007199254740993,{"a":1e400}],"b":1}') as object;
  const plain = withPlainNumbers(value);
  expect(Object.entries(plain as object)).toEqual([
    ["__proto__", [9007199254740992, { a: Number.POSITIVE_INFINITY }]],
    ["b", 1],
  ]);
  expect(JSON.stringify(value)).toContain("9007199254740993");
  const same = { a: [1, { b: "x" }], c: null };
  expect(withPlainNumbers(same)).toBe(same);
});

test("what is nested too deeply to be written again is refused, with and without long integers", () => {
  const nested = (levels: number, inner: string) => `${"[".repeat(levels)}${inner}${"]".repeat(levels)}`;
  for (const inner of ["1", "12345678901234567890"]) {
    expect(JSON.stringify(parseExactJson(nested(400, inner)))).toBe(nested(400, inner));
    expect(() => parseExactJson(nested(200_000, inner))).toThrow(SyntaxError);
    expect(JSON.stringify(parseExactJson(nested(600, inner), { depthMax: 600 }))).toBe(nested(600, inner));
  }
});
