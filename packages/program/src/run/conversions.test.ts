import { type JsonObject, parseExactJson } from "@svc/core";
import { expect, test } from "vitest";
import { functionNames } from "../types/cel-kinds.ts";
import { compileSource } from "./expression.ts";

const compute = (source: string, row: JsonObject = {}) => compileSource(source).compute({}, [row])[0];
const textOf = (source: string, row?: JsonObject) => {
  const outcome = compute(source, row);
  return outcome !== undefined && "text" in outcome ? outcome.text : outcome;
};

/** Every function that converts a text or bytes: inputs that it converts, and inputs that it refuses. */
const cases: Readonly<
  Record<string, { reads: readonly [source: string, text: string][]; refuses: readonly string[] }>
> = {
  int: {
    reads: [
      ["int('12')", "12"],
      ["int('-12')", "-12"],
      ["int('+7')", "7"],
      ["int('007')", "7"],
      ["int('9223372036854775807')", "9223372036854775807"],
      ["int('-9223372036854775808')", "-9223372036854775808"],
    ],
    refuses: [
      ...["", " ", "0x1F", "0b1", "0o7", "1.0", "1e3", "1_000", "1,000", "12 ", " 12", "12\n", "--1", "+", "-", "NaN"],
      ...["Infinity", "true", "null", "٣", "９", "9223372036854775808", "-9223372036854775809", "1n", "9".repeat(200)],
    ],
  },
  uint: {
    reads: [
      ["uint('12')", "12"],
      ["uint('18446744073709551615')", "18446744073709551615"],
    ],
    refuses: ["", " ", "-1", "-0", "0x1F", "1.5", "1e3", "18446744073709551616", "12 ", "null", "9".repeat(200)],
  },
  double: {
    reads: [
      ["double('12.50')", "12.5"],
      ["double('-1e3')", "-1000"],
      ["double('.5')", "0.5"],
    ],
    refuses: ["", " ", "0x1F", "1_0", "1,5", "1e", "e5", ".", "12 ", "1e400", "-1e999", "null", "true", "½"],
  },
  bool: {
    reads: [
      ["bool('true')", "true"],
      ["bool('0')", "false"],
    ],
    refuses: ["", " ", "yes", "no", "on", "2", "tRue", "true ", "null", "NaN"],
  },
  timestamp: {
    reads: [
      ["timestamp('2027-01-01T09:00:00Z')", '"2027-01-01T09:00:00Z"'],
      ["timestamp('2027-01-01t09:00:00.5+02:00')", '"2027-01-01T07:00:00.500Z"'],
      ["timestamp('2027-01-01T00:00:00.123456789z')", '"2027-01-01T00:00:00.123456789Z"'],
      ["timestamp('2016-12-31T23:59:60Z')", '"2017-01-01T00:00:00Z"'],
      ["timestamp('0001-01-01T00:00:00Z')", '"0001-01-01T00:00:00Z"'],
      ["timestamp('1969-12-31T23:59:59.5Z')", '"1969-12-31T23:59:59.500Z"'],
    ],
    refuses: [
      ...["", "2026", "task 12", "2027-01-01", "2027-02-30T00:00:00Z", "2027-01-01T24:00:00Z", "2027-01-01T09:00Z"],
      ...["2027-01-01T09:00:00", "2027-01-01 09:00:00Z", "2027-01-01T09:00:00+24:00", "2027-13-01T00:00:00Z", "0"],
      ...["2027-01-01T23:59:60Z", "2027-01-01T00:00:00.1234567891Z", "Fri, 01 Jan 2027 09:00:00 GMT", "now"],
    ],
  },
  duration: {
    reads: [
      ["duration('90s')", '"90s"'],
      ["duration('1h30m')", '"5400s"'],
      ["duration('-1.5h')", '"-5400s"'],
      ["duration('0')", '"0s"'],
    ],
    refuses: [
      "",
      " ",
      "1",
      "-",
      "+",
      "s",
      "1d",
      "1 h",
      "1h ",
      ".s",
      "P1D",
      "PT1H",
      "1e3s",
      "90S",
      "1h-1m",
      "0x1s",
      "null",
    ],
  },
  bytes: { reads: [["bytes('ä')", '"w6Q="']], refuses: ["\ud800", "a\udc00"] },
  "base64.decode": {
    reads: [
      ["base64.decode('YWI=')", '"YWI="'],
      ["base64.decode('YWI')", '"YWI="'],
      ["base64.decode('')", '""'],
    ],
    refuses: ["A", "YW=", "YWJ=", "Y", "Y===", "YWI=\n", "YW I=", "YWI-", "====", "Zg=", "Zh=="],
  },
  string: {
    reads: [
      ["string(b'\\xef\\xbb\\xbfa')", JSON.stringify("\ufeffa")],
      ["string(12)", '"12"'],
    ],
    refuses: [],
  },
};

test("every function that converts is looked at", () => {
  const others =
    /^(?:get[A-Z]\w+|dyn|size|contains|startsWith|endsWith|matches|split|join|replace|substring|charAt|indexOf|lastIndexOf|lowerAscii|upperAscii|trim|reverse|format|strings\.quote|math\.\w+|lists\.\w+|slice|flatten|distinct|sort|sortBy|first|last|sum|min|max|base64\.encode|sha256|md5)$/;
  expect(functionNames.filter((name) => !others.test(name)).toSorted()).toEqual(Object.keys(cases).toSorted());
});

for (const [name, { reads, refuses }] of Object.entries(cases)) {
  test.each(reads)(`${name} reads what is one: %s`, (source, text) => {
    expect(textOf(source)).toBe(text);
  });
  if (refuses.length > 0) {
    test.each(refuses)(`${name} fails for %j`, (text) => {
      expect(compute(`${name}(row.text)`, { text })).toHaveProperty("error");
    });
  }
}

test("bytes that are no UTF-8 are no text", () => {
  for (const bytes of ["\\xff", "\\xc3", "\\xed\\xa0\\x80"])
    expect(compute(`string(b'${bytes}')`)).toHaveProperty("error");
});

const row = parseExactJson(
  `{"a":0.1234567890123456789,"b":{"c":[4503599627370497.5,1]},"tiny":1e-400,"huge":1e400,"one":1.5,
    "near":0.10000000000000001,"exact":0.1,"id":123456789012345678901234567890}`,
) as JsonObject;

test.each([
  ["row.a", "0.1234567890123456789"],
  ["row.b.c[0]", "4503599627370497.5"],
  ["row.b", '{"c":[4503599627370497.5,1]}'],
  ["{'x': row.a, 'y': row.one}", '{"x":0.1234567890123456789,"y":1.5}'],
  ["row.one > 1.0 ? row.a : row.one", "0.1234567890123456789"],
  ["[row.a, row.one].filter(n, n > 0.0)", "[0.1234567890123456789,1.5]"],
  ["string(row.a)", '"0.1234567890123456789"'],
  ["row.tiny", "1e-400"],
  ["row.huge", "1e400"],
  ["row.id", "123456789012345678901234567890"],
  ["row.a * 2.0", "0.24691357802469135"],
])("%s keeps the digits of what it is given", (source, text) => {
  expect(textOf(source, row)).toBe(text);
});

test("a zero keeps its sign", () => {
  for (const zero of ["-0", "-0.0", "-0e3"]) {
    expect(textOf("row.n", parseExactJson(`{"n":${zero},"other":0}`) as JsonObject)).toBe("-0");
    expect(textOf("row.n + 1.0", parseExactJson(`{"n":${zero}}`) as JsonObject)).toBe("1");
  }
});

test("of two numbers that are one double none is taken for the other", () => {
  for (const source of ["row.near", "row.exact", "string(row.near)", "{'a': row.exact}"])
    expect(compute(source, row)).toHaveProperty("error");
  expect(textOf("row.exact + 1.0", row)).toBe("1.1");
});
