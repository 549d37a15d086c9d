import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonTooLargeError, parseExactJson } from "./exact-json.ts";
import { parseJsonInTurns } from "./sliced-json.ts";

const bounds = { values: 1_000_000, members: 1_000_000, raw: 1_000_000, digits: 1_000_000 };
const unbounded = { bounds, turn: async () => {} };
const outcome = async (parse: () => unknown) => {
  try {
    return { value: await parse() };
  } catch (error) {
    return { error: error instanceof SyntaxError };
  }
};

/** Generates JSON texts that may be invalid, because a few characters are removed, doubled or replaced. */
const texts = fc
  .tuple(
    fc.oneof(fc.json({ noUnicodeString: false } as never), fc.json()),
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.constantFrom("", ",", "]", "}", "{", "[", '"', ":", "-0", "1e400", "\\", " ", "\u0000", "01"),
      ),
    ),
  )
  .map(([text, changes]) =>
    changes.reduce((changed, [at, put]) => {
      const place = at % (changed.length + 1);
      return changed.slice(0, place) + put + changed.slice(place + (at % 2));
    }, text),
  );

test("any text is what parseExactJson makes of it, or no JSON to both", async () => {
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const expected = await outcome(() => parseExactJson(text));
      const found = await outcome(() => parseJsonInTurns(text, unbounded));
      expect(found).toEqual(expected);
      if ("value" in expected && "value" in found)
        expect(JSON.stringify(found.value)).toBe(JSON.stringify(expected.value));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  '{"__proto__":{"a":1},"constructor":2,"a":1,"a":2,"2":0,"1":0}',
  " [ ] ",
  ' { "a" : { } , "b" : [ [ ] , { } ] }\n',
  '"\\u0000\\ud800\\n"',
  '"\n"',
  "[-0,-0.0,1e400,9007199254740993,0.1234567890123456789,1E2,1.50]",
  ...[
    "01",
    "1.",
    "-",
    "+1",
    ".5",
    "1e",
    "NaN",
    "nul",
    "[1,]",
    "{,}",
    '{"a"}',
    "{-0:1}",
    "[1 2]",
    "",
    " ",
    "[",
    '{"a":',
    '"',
    "true1",
    "\ufeff1",
  ],
])("%s is read as parseExactJson reads it", async (text) => {
  const found = await outcome(() => parseJsonInTurns(text, unbounded));
  const expected = await outcome(() => parseExactJson(text));
  expect(JSON.stringify(found)).toBe(JSON.stringify(expected));
  if ("value" in found && typeof found.value === "object") expect(Object.getPrototypeOf(found.value)).not.toBeNull();
});

test("depth ends no stack, and over a bound it says which", async () => {
  const deep = await parseJsonInTurns(`${"[".repeat(200_000)}${"]".repeat(200_000)}`, unbounded);
  expect(Array.isArray(deep)).toBe(true);
  const bounded = (text: string) =>
    parseJsonInTurns(text, { ...unbounded, bounds: { values: 10, members: 3, raw: 2, digits: 20 } });
  await expect(bounded(`[${"1,".repeat(10)}1]`)).rejects.toThrow("JSON holds more than 10 values");
  await expect(bounded('{"a":1,"b":1,"c":1,"d":1}')).rejects.toThrow("more than 3 members in an object");
  await expect(bounded("[-0,1e400,-0]")).rejects.toThrow("more than 2 numbers that a double does not hold exactly");
  await expect(bounded(`[${"1".repeat(21)}]`)).rejects.toThrow(JsonTooLargeError);
  expect(await bounded(`["${"1".repeat(100)}",-0,1e400]`)).toHaveLength(3);
});

test("others go first, however a megabyte is made up", async () => {
  const names = Array.from({ length: 90_000 }, (_, n) => `"k${n}":1`).join(",");
  for (const text of [`{${names}}`, `[${"-0,".repeat(300_000)}1]`, `[${'{"a":1},'.repeat(120_000)}1]`]) {
    let turns = 0;
    await parseJsonInTurns(text, { bounds, turn: async () => void turns++ });
    expect(turns).toBeGreaterThan(1);
  }
});

test("a string of many pieces is read like a short one, wherever a piece ends", async () => {
  const parts = ["a", "\u00e9", "\ud83d\ude00", '\\"', "\\n", "\\u00e9", "\\ud83d\\ude00", "\\\\"];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 9 }),
      fc.nat(12),
      async (part, shift) => {
        const text = `["${"x".repeat(shift)}${part.join("").repeat(16_000)}",1]`;
        expect(await parseJsonInTurns(text, unbounded)).toEqual(JSON.parse(text));
        const cut = text.slice(0, text.length - 3 - shift);
        await expect(parseJsonInTurns(cut, unbounded)).rejects.toThrow(SyntaxError);
      },
    ),
    { numRuns: 30 },
  );
});

test("numbers are doubles, and a repeated name is refused, if the reader asks for it", async () => {
  const plain = { ...unbounded, numbers: "double", repeats: "refused" } as const;
  const text = "[9007199254740993,0.1234567890123456789,1e400,-0]";
  expect(await parseJsonInTurns(text, plain)).toEqual(JSON.parse(text));
  expect(await parseJsonInTurns('{"a":{"a":1},"__proto__":1}', plain)).toEqual(
    JSON.parse('{"a":{"a":1},"__proto__":1}'),
  );
  for (const name of ["a", "\\u0061", "__proto__", "constructor", "2"])
    await expect(parseJsonInTurns(`{"x":[{"${name}":1,"b":2,"${name}":3}]}`, plain)).rejects.toThrow(
      "duplicate object key",
    );
});
