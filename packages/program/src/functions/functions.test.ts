import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "../json.ts";
import { compileSource } from "../run/expression.ts";

const now = Date.UTC(2026, 10, 23, 9, 30);

function computed(source: string, row: Record<string, JsonValue> = {}): unknown {
  const [outcome] = compileSource(source).compute({ now }, [row]);
  if (outcome === undefined || "error" in outcome) return outcome;
  return JSON.parse(outcome.text);
}

test.each<[string, unknown]>([
  ["'tacocat'.charAt(3)", "o"],
  ["'abc'.charAt(3)", ""],
  ["'hello mellow'.indexOf('ello')", 1],
  ["'hello mellow'.indexOf('ello', 2)", 7],
  ["'hello mellow'.indexOf('jello')", -1],
  ["'hello mellow'.lastIndexOf('ello')", 7],
  ["'hello mellow'.lastIndexOf('ello', 6)", 1],
  ["'TacoCÆt'.lowerAscii()", "tacocÆt"],
  ["'TacoCÆt'.upperAscii()", "TACOCÆT"],
  ["'hello hello'.replace('he', 'we')", "wello wello"],
  ["'hello hello'.replace('he', 'we', 1)", "wello hello"],
  ["'hello hello'.replace('he', 'we', 0)", "hello hello"],
  ["'ab'.replace('', '_')", "_a_b_"],
  ["'ab'.replace('', '_', 2)", "_a_b"],
  ["'hello hello hello'.split(' ')", ["hello", "hello", "hello"]],
  ["'hello hello hello'.split(' ', 2)", ["hello", "hello hello"]],
  ["'hello hello hello'.split(' ', 0)", []],
  ["'a😀b'.split('')", ["a", "😀", "b"]],
  ["['hello', 'mellow'].join()", "hellomellow"],
  ["['hello', 'mellow'].join(' ')", "hello mellow"],
  ["'tacocat'.substring(4)", "cat"],
  ["'tacocat'.substring(0, 4)", "taco"],
  ["'a😀b'.substring(1, 2)", "😀"],
  ["'a😀b'.indexOf('b')", 2],
  ["'  \\ttrim\\n    '.trim()", "trim"],
  ["'gums'.reverse()", "smug"],
  ["'%s has %d, %.2f'.format(['a', 3, 2.555])", "a has 3, 2.56"],
  ["strings.quote('a \"b\"')", '"a \\"b\\""'],
  ["math.greatest(1.0, 5.0, 3.5)", 5],
  ["math.greatest([1.0, 5.0])", 5],
  ["math.least(-1, 2.5)", -1],
  ["math.ceil(1.2)", 2],
  ["math.floor(-1.2)", -2],
  ["math.round(-1.5)", -2],
  ["math.trunc(-1.9)", -1],
  ["math.abs(-3)", 3],
  ["math.sign(-0.5)", -1],
  ["math.sqrt(81.0)", 9],
  ["math.isNaN(0.0/0.0) && math.isInf(1.0/0.0) && math.isFinite(1.0)", true],
  ["[3, 1, 2].sort()", [1, 2, 3]],
  ["['b', 'a'].sort()", ["a", "b"]],
  ["[1, 1.0, 2, 'a', 'a', null, null].distinct()", [1, 2, "a", null]],
  ["[1, 2, 3, 4].slice(1, 3)", [2, 3]],
  ["[1, [2, [3]]].flatten()", [1, 2, [3]]],
  ["[1, [2, [3]]].flatten(2)", [1, 2, 3]],
  ["[1.5, 2.0].sum()", 3.5],
  ["[1, 2].reverse()", [2, 1]],
  ["lists.range(3)", [0, 1, 2]],
  ["base64.encode('hello')", "aGVsbG8="],
  ["string(base64.decode('aGVsbG8='))", "hello"],
  ["sha256('')", createHash("sha256").digest("hex")],
  ["md5('Ann@Example.com'.lowerAscii())", createHash("md5").update("ann@example.com").digest("hex")],
  ["now", "2026-11-23T09:30:00Z"],
  ["now - duration('168h')", "2026-11-16T09:30:00Z"],
  ["timestamp('2026-11-24T09:30:00Z') - now", "86400s"],
  ["now.getFullYear()", 2026],
  ["timestamp(1700000000)", "2023-11-14T22:13:20Z"],
  ["timestamp(int(now)) == now", true],
  // Milliseconds, as version 0.1 accepted them.
  ["timestamp(1700000000000)", "2023-11-14T22:13:20Z"],
  ["timestamp(0)", "1970-01-01T00:00:00Z"],
  ["string(now).substring(0, 10)", "2026-11-23"],
  ["{'a': [1.0, null, true], 'b': 9007199254740993}", JSON.parse('{"a":[1,null,true],"b":9007199254740993}')],
  ["b'hi'", "aGk="],
])("%s", (source, value) => {
  expect(computed(source)).toEqual(value);
});

test.each([
  "'abc'.substring(2, 1)",
  "'abc'.charAt(4)",
  "[1, 'a'].sort()",
  "[[1]].sort()",
  "[1].slice(0, 2)",
  "[1, 2].join(',')",
  "lists.range(1001)",
  "timestamp(9223372036854775807)",
  "base64.decode('%')",
  "1.0 / 0.0",
  "type(1)",
  "{1: 2}",
  "row.list.sort()",
  "row.text + row.text",
])("%s has no value, and throws nothing", (source) => {
  const row = { list: Array.from({ length: 1_001 }, () => 1), text: "x".repeat(40_000) };
  expect(computed(source, row)).toHaveProperty("error");
});

const word = fc.string({ unit: "grapheme", maxLength: 30 });

test("texts: what is split is joined again, places are counted in characters, and case is that of ASCII alone", () => {
  fc.assert(
    fc.property(word, word, fc.nat(30), (text, part, place) => {
      const characters = Array.from(text);
      const row = { text, part };
      expect(computed("row.text.split(row.part).join(row.part)", row)).toBe(text);
      expect(computed("row.text.replace(row.part, row.part)", row)).toBe(text);
      expect(computed("row.text.reverse().reverse()", row)).toBe(text);
      const at = Math.min(place, characters.length);
      expect(computed(`row.text.substring(0, ${at}) + row.text.substring(${at})`, row)).toBe(text);
      expect(computed(`row.text.substring(${at}).size()`, row)).toBe(characters.length - at);
      const found = computed("row.text.indexOf(row.part)", row) as number;
      if (found >= 0) expect(characters.slice(found).join("").startsWith(part)).toBe(true);
      else expect(text.includes(part)).toBe(false);
      const lower = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
      expect(computed("row.text.lowerAscii()", row)).toBe(lower);
    }),
    { numRuns: 200 },
  );
});

test("lists: sort, distinct and slice answer as the lists of JavaScript do", () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  fc.assert(
    fc.property(fc.array(fc.oneof(number, fc.integer()), { maxLength: 40 }), fc.nat(40), (list, at) => {
      const row = { list };
      expect(computed("row.list.sort()", row)).toEqual(list.toSorted((a, b) => a - b));
      expect(computed("row.list.distinct()", row)).toEqual([...new Set(list)]);
      const end = Math.min(at, list.length);
      expect(computed(`row.list.slice(0, ${end})`, row)).toEqual(list.slice(0, end));
      if (list.length > 0) expect(computed("math.greatest(row.list)", row)).toBe(Math.max(...list));
    }),
    { numRuns: 200 },
  );
});

test("digests are those of the text's UTF-8", () => {
  fc.assert(
    fc.property(word, (text) => {
      for (const name of ["sha256", "md5"]) {
        expect(computed(`${name}(row.text)`, { text })).toBe(createHash(name).update(text, "utf8").digest("hex"));
      }
      expect(computed("string(base64.decode(base64.encode(row.text)))", { text })).toBe(text);
    }),
    { numRuns: 100 },
  );
});
