import { parseExactJson } from "@svc/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalHash, canonicalJson } from "./canonical.ts";

test("canonical JSON is that of RFC 8785", () => {
  const value = {
    numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27],
    "\u20ac": '$\u000f\nA\'"\\"',
    "1": [],
    a: null,
  };
  const text =
    '{"1":[],"a":null,"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"\u20ac":"$\\u000f\\nA\'\\"\\\\\\""}';
  expect(canonicalJson(value)).toBe(text);
  expect(canonicalHash({})).toBe("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
});

test("a number that no double holds keeps its digits: neighbours have another hash", () => {
  const text = '{"a":[9007199254740993,1e400],"b":1}';
  expect(canonicalJson(parseExactJson('{"b":1,"a":[9007199254740993,1e400]}'))).toBe(text);
  const hashes = ["9007199254740992", "9007199254740993"].map((id) => canonicalHash(parseExactJson(`{"id":${id}}`)));
  expect(new Set(hashes).size).toBe(2);
});

test("half a surrogate pair, which RFC 8785 has no form for, is written as its escape", () => {
  expect(canonicalJson({ "\ud801": "\udfff", a: ["\ud83d"] })).toBe('{"a":["\\ud83d"],"\\ud801":"\\udfff"}');
});

function shuffled(value: unknown, order: readonly number[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => shuffled(item, order));
  const entries = Object.entries(value).map(([name, item], index) => ({
    name,
    item,
    rank: order[index % order.length] ?? 0,
  }));
  entries.sort((a, b) => a.rank - b.rank);
  return Object.fromEntries(entries.map(({ name, item }) => [name, shuffled(item, order)]));
}

test("the hash is that of the value, whatever the order of names and the whitespace", () => {
  const orders = fc.array(fc.integer(), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.jsonValue(), orders, fc.nat(8), (value, order, indent) => {
      const other = JSON.stringify(shuffled(value, order), undefined, indent);
      expect(canonicalHash(JSON.parse(other))).toBe(canonicalHash(JSON.parse(JSON.stringify(value))));
    }),
  );
});
