import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { everyConstruct } from "@svc/testing/programs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { pointerTo } from "./src/form/faults.ts";
import { findPart } from "./src/json/locate.ts";
import { insertItem, jsonText, removeValue, setText, setValue, swapItems } from "./src/json/patch.ts";

const folder = join(import.meta.dirname, "../../docs/examples");
const examples = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
const texts = examples.map((name) => readFileSync(join(folder, name), "utf8"));

/** Returns the pointer of every value inside a value. */
function pointersOf(value: unknown, pointer = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const inner = pointerTo(pointer, name);
    return [inner, ...pointersOf(part, inner)];
  });
}

const rawAt = (text: string, pointer: string) => {
  const part = findPart(text, pointer);
  return part === undefined ? undefined : text.slice(part.value, part.to);
};

/** Sets each value of a text, or `valuesMax` of them, to another one and back, and adds and removes a member of each object. The text must stay as it was. */
function expectLossless(text: string, valuesMax = Number.POSITIVE_INFINITY) {
  const root: unknown = JSON.parse(text);
  const pointers = ["", ...pointersOf(root)];
  const step = Math.ceil(pointers.length / valuesMax);
  for (const pointer of pointers.filter((_, index) => index % step === text.length % step)) {
    const raw = rawAt(text, pointer) ?? "";
    const changed = setText(text, pointer, '"another value"');
    expect(JSON.parse(rawAt(changed, pointer) ?? "null")).toBe("another value");
    expect(setText(changed, pointer, raw.replaceAll(`\n${indentOf(text, pointer)}`, "\n"))).toBe(text);
    if (!raw.startsWith("{")) continue;
    const added = pointerTo(pointer, "a new member");
    const grown = setValue(text, added, { $ref: "row.id" });
    expect(JSON.parse(rawAt(grown, added) ?? "null")).toEqual({ $ref: "row.id" });
    const shrunk = removeValue(grown, added);
    if (/^\{\s+\}$/.test(raw)) expect(JSON.parse(shrunk)).toEqual(root);
    else expect(shrunk).toBe(text);
  }
}

function indentOf(text: string, pointer: string): string {
  const at = findPart(text, pointer)?.from ?? 0;
  return /^\s*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1, at))?.[0] ?? "";
}

test("there are examples", () => expect(texts.length).toBeGreaterThan(20));

test.each(texts.map((text, index) => [examples[index], text] as const))(
  "each value of the example %s is set and set back, and no byte has changed",
  (_, text) => expectLossless(text),
);

/** JSON texts in any layout, with numbers that a double cannot keep, repeated spaces and escaped names. */
const layouts = fc
  .tuple(
    fc.constantFrom<unknown>(everyConstruct(), ...texts.map((text) => JSON.parse(text) as unknown)),
    fc.jsonValue(),
  )
  .chain(([program, odd]) =>
    fc.record({
      value: fc.constantFrom(program, odd, { a: odd, program }),
      indent: fc.constantFrom<string | number>(0, 1, 2, 4, "\t"),
      spelling: fc.constantFrom("1.0", "1e3", "12345678901234567890", "-0", "0.10"),
    }),
  )
  .map(({ value, indent, spelling }) =>
    JSON.stringify(value, undefined, indent).replace(/(?<=[:[\s])\d+(?=[,\]}\s])/, spelling),
  );

test("each value of generated programs in any layout is set and set back, and no byte has changed", () => {
  fc.assert(
    fc.property(layouts, (text) => expectLossless(text, 12)),
    { numRuns: 500 },
  );
}, 120_000);

test("removing a value and setting it again keeps the meaning", () => {
  fc.assert(
    fc.property(layouts, fc.nat(), (text, seed) => {
      const root: unknown = JSON.parse(text);
      const members = pointersOf(root).filter((pointer) => !/\/\d+(?=\/|$)/.test(pointer));
      const pointer = members[seed % members.length];
      if (pointer === undefined) return;
      const raw = rawAt(text, pointer) ?? "";
      expect(JSON.parse(setText(removeValue(text, pointer), pointer, raw))).toEqual(root);
    }),
    { numRuns: 200 },
  );
});

const list = '{\n  "steps": [\n    { "id": "a" },\n    { "id": "b", "n": 1.0 }\n  ]\n}\n';

test("items change places, and back", () => {
  const swapped = swapItems(list, "/steps", 0);
  expect(swapped).toBe('{\n  "steps": [\n    { "id": "b", "n": 1.0 },\n    { "id": "a" }\n  ]\n}\n');
  expect(swapItems(swapped, "/steps", 0)).toBe(list);
  expect([swapItems(list, "/steps", 1), swapItems(list, "/steps", -1), swapItems(list, "/none", 0)]).toEqual([
    list,
    list,
    list,
  ]);
});

test("an item is inserted anywhere, on a line of its own", () => {
  const ids = (text: string) => JSON.parse(text).steps.map(({ id }: { id: string }) => id);
  for (const [index, order] of [
    [0, "cab"],
    [1, "acb"],
    [2, "abc"],
  ] as const) {
    const text = insertItem(list, "/steps", index, '{ "id": "c" }');
    expect(ids(text).join("")).toBe(order);
    expect(text).toContain('\n    { "id": "c" }');
    expect(removeValue(text, `/steps/${index}`)).toBe(list);
  }
  expect(insertItem('{"steps":[]}', "/steps", 0, "1")).toBe('{"steps":[1]}');
  expect(JSON.parse(insertItem("{}", "/a/b", 0, "1"))).toEqual({ a: { b: [1] } });
});

test("a removed value takes the objects with it that it leaves empty", () => {
  const text = '{ "a": 1, "overlap": { "policy": "allow" } }';
  expect(setValue(text, "/overlap/policy", undefined)).toBe('{ "a": 1 }');
  expect(setValue('{ "a": 1 }', "/overlap/policy", "allow")).toBe(text);
  expect(removeValue(text, "/overlap/policy")).toBe('{ "a": 1, "overlap": {} }');
});

test("a short value is on one line, a long one has an indented line for each part", () => {
  expect(jsonText({ a: [1, "x"], b: {} })).toBe('{ "a": [1, "x"], "b": {} }');
  const long = { text: "x".repeat(100) };
  expect(setValue(list, "/steps/0/args", long)).toContain(`{ "id": "a", "args": {\n      "text": "`);
});
