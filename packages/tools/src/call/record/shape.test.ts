import { parseExactJson } from "@svc/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fitBytes, selectFields } from "./shape.ts";

test("a fitted result is valid JSON within the limit, and whole if it fits", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 4, max: 400 }), (value, bytesMax) => {
      const { json, warning } = fitBytes(value, bytesMax);
      const size = Buffer.byteLength(JSON.stringify(value));
      expect(Buffer.byteLength(json)).toBeLessThanOrEqual(bytesMax);
      JSON.parse(json);
      if (size <= bytesMax) expect([json, warning]).toEqual([JSON.stringify(value), undefined]);
      else expect(warning).toMatch(`truncated: ${Buffer.byteLength(json)} of ${size} bytes`);
    }),
    { numRuns: 500 },
  );
});

test("as many items of a list stay as fit, and no fewer", () => {
  const value = { items: Array.from({ length: 100 }, (_, index) => ({ id: index + 100 })), next: "x" };
  for (const bytesMax of [256, 300, 511, 1000]) {
    const { json } = fitBytes(value, bytesMax);
    const kept = JSON.parse(json) as typeof value;
    expect(kept.items).toEqual(value.items.slice(0, kept.items.length));
    expect(kept.next).toBe("x");
    // Another item with its comma needs 11 bytes, so it would not have fitted.
    expect(Buffer.byteLength(json) + 11).toBeGreaterThan(bytesMax);
  }
});

test("lists inside lists are cut to one length", () => {
  const value = Array.from({ length: 10 }, () => Array.from({ length: 50 }, () => 7));
  const kept = JSON.parse(fitBytes(value, 256).json) as number[][];
  expect([kept.length, ...new Set(kept.map(({ length }) => length))]).toEqual([10, 11]);
});

test("a long text in the only item is cut, and the item stays", () => {
  const kept = JSON.parse(fitBytes({ items: [{ id: 1, body: "é".repeat(5_000) }] }, 256).json) as {
    items: { body: string }[];
  };
  expect(kept.items[0]?.body.length).toBeGreaterThan(100);
});

test("a text is never cut inside of a character", () => {
  for (let bytesMax = 8; bytesMax < 40; bytesMax++) {
    const { json } = fitBytes("\u{1f600}".repeat(20), bytesMax);
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(bytesMax);
    expect((JSON.parse(json) as string).isWellFormed()).toBe(true);
  }
});

test("an object of many names keeps the first of them", () => {
  const value = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`name${index}`, index]));
  const kept = JSON.parse(fitBytes(value, 256).json) as object;
  expect(Object.keys(kept).length).toBeGreaterThan(10);
  expect(value).toMatchObject(kept);
});

test("a long list keeps nearly as much as fits", () => {
  for (const item of [1, { id: "abc" }, "x".repeat(500)]) {
    const { json } = fitBytes(
      Array.from({ length: 100_000 }, () => item),
      65_536,
    );
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(65_536);
    expect(Buffer.byteLength(json)).toBeGreaterThan(61_000);
  }
});

test("long integers and nothing at all are written as they are", () => {
  expect(fitBytes(parseExactJson("[12345678901234567890]"), 256).json).toBe("[12345678901234567890]");
  expect(fitBytes(undefined, 256)).toEqual({ json: "null", warning: undefined });
});

test("fields keep the named values, through lists; fields without a match are absent", () => {
  const value = {
    items: [{ id: 1, owner: { name: "a", age: 2 } }, { id: 2, owner: null }, "odd"],
    next: "x",
    title: "t",
  };
  expect(selectFields(value, ["items.id", "items.owner.name", "next", "gone.x", "title.x"])).toEqual({
    items: [{ id: 1, owner: { name: "a" } }, { id: 2, owner: null }, undefined],
    next: "x",
    title: undefined,
  });
  expect(JSON.stringify(selectFields(value, ["items.id", "title.x"]))).toBe('{"items":[{"id":1},{"id":2},null]}');
  expect(selectFields(value, [])).toBe(value);
  expect(selectFields(value, ["items", "items.id"])).toEqual({ items: value.items });
  expect(selectFields([{ a: 1, b: 2 }], ["a"])).toEqual([{ a: 1 }]);
  expect(selectFields({ a: 1 }, ["constructor.name", "__proto__"])).toEqual({});
});
