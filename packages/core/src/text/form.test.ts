import fc from "fast-check";
import { expect, test } from "vitest";
import { readFormInTurns } from "./form.ts";

const form = "application/x-www-form-urlencoded";
const reading = { fieldsMax: 20_000, turn: () => Promise.resolve() };
const read = async (bytes: Buffer | string, type: string | undefined = form) => {
  const found = await readFormInTurns(Buffer.from(bytes as Buffer), type, reading);
  return "fault" in found ? found : Object.fromEntries(found.fields);
};

test("property: a form is read as browsers write it", async () => {
  const text = fc.string({ unit: "grapheme" });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, text)), async (pairs) => {
      const params = new URLSearchParams(pairs);
      const expected = [...new Set(params.keys())].map((name) => [name, params.getAll(name)]);
      const found = await readFormInTurns(Buffer.from(params.toString()), form, reading);
      expect("fields" in found && [...found.fields]).toEqual(expected);
    }),
  );
});

test.each<[string, Buffer | string, string | undefined, object]>([
  ["nothing but separators", "&&", form, {}],
  ["a name alone, an empty name, an equals sign in a value", "a&=b&c=d=e", form, { a: [""], "": ["b"], c: ["d=e"] }],
  ["percent signs that escape nothing", "a=100%&b=%zz%4", form, { a: ["100%"], b: ["%zz%4"] }],
  ["a byte order mark", "\ufeffa=b", form, { a: ["b"] }],
  ["a byte order mark in a value", "a=%EF%BB%BFb", form, { a: ["\ufeffb"] }],
  ["escapes in ISO-8859-1", "a=caf%E9", `${form}; charset=iso-8859-1`, { a: ["caf\u00e9"] }],
  ["bytes of windows-1252", Buffer.from([97, 61, 0x80]), `${form}; charset=windows-1252`, { a: ["\u20ac"] }],
  ["UTF-16", Buffer.from("a=%C3%A9\u00e9", "utf16le"), `${form}; charset=utf-16`, { a: ["\u00e9\u00e9"] }],
  ["an escape that UTF-8 does not have", "a=caf%E9", form, { fault: "is not text of the charset UTF-8" }],
  ["half a character at a separator", "a=%C3&b=%A9", form, { fault: "is not text of the charset UTF-8" }],
  ["half a character in a name", "%C3=%A9", undefined, { fault: "is not text of the charset UTF-8" }],
  ["odd UTF-16", Buffer.from([97, 0, 61]), `${form}; charset=utf-16le`, { fault: expect.stringContaining("utf-16le") }],
  ["20,001 fields", "a&".repeat(20_001), form, { fault: "has more than 20000 fields" }],
])("a form with %s is read, or has a fault", async (_what, bytes, type, expected) => {
  expect(await read(bytes, type)).toEqual(expected);
});

test.each<[string, string]>([
  ["many fields", Array.from({ length: 20_000 }, (_, at) => `name-${at}=%41%42`).join("&")],
  ["one long value", `a=${"%C3%A9".repeat(170_000)}`],
  ["a million separators", "&".repeat(1_000_000)],
])("a form of %s is read in short parts", async (_what, text) => {
  const bytes = Buffer.from(text);
  const means: number[] = [];
  // Measures three times and takes the best, because other work of the machine may slow one measurement down. Uses the mean of a
  // measurement, because a garbage collection may happen in any part.
  for (let round = 0; round < 3; round++) {
    const before = process.threadCpuUsage();
    let turns = 0;
    const turn = async () => void turns++;
    await readFormInTurns(bytes, form, { fieldsMax: 20_000, turn });
    const { user, system } = process.threadCpuUsage(before);
    means.push((user + system) / 1_000 / (turns + 1));
  }
  expect(Math.min(...means)).toBeLessThan(10);
});
