import { parseExactJson } from "@svc/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { trim } from "./payload.ts";

const names = ["a", "b", "c"];
const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    fc.constant({ type: "string" }),
    fc.record({
      properties: fc.dictionary(fc.oneof(...names.map((name) => fc.constant(name))), tie("schema"), { maxKeys: 3 }),
    }),
    fc.record({ items: tie("schema") }),
  ),
}));
type Schema = { properties?: Record<string, Schema>; items?: Schema };
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.integer(),
    fc.option(fc.boolean()),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(...[...names, "z", "__proto__"].map((name) => fc.constant(name))), tie("value"), {
      maxKeys: 4,
    }),
  ),
}));

/** True if the schema names everything in a value, or names nothing at all. */
function isNamed({ properties, items }: Schema, held: unknown): boolean {
  if (Array.isArray(held)) return items === undefined || held.every((item) => isNamed(items, item));
  if (typeof held !== "object" || held === null || properties === undefined) return true;
  return Object.entries(held).every(
    ([name, child]) => Object.hasOwn(properties, name) && isNamed(properties[name] ?? {}, child),
  );
}

test("nothing unnamed survives, and trimming twice is trimming once", () => {
  fc.assert(
    fc.property(schema, value, (form, held) => {
      const kept = trim(form as Schema, held);
      expect(isNamed(form as Schema, kept)).toBe(true);
      expect(trim(form as Schema, kept)).toEqual(kept);
    }),
  );
});

test("objects without properties, lists without items, null and other types are kept whole", () => {
  const form = {
    properties: { free: { type: "object" }, list: { type: "array" }, nil: { properties: {} }, odd: { items: {} } },
  };
  const held = { free: { a: { b: 1 } }, list: [{ a: 1 }], nil: null, odd: { a: 1 }, gone: 1 };
  expect(trim(form, held)).toEqual({ free: { a: { b: 1 } }, list: [{ a: 1 }], nil: null, odd: { a: 1 } });
  fc.assert(fc.property(fc.jsonValue(), (any) => void expect(trim({}, any)).toEqual(any)));
});

test("long integers survive", () => {
  const kept = trim(
    { properties: { id: { properties: { a: {} } } } },
    parseExactJson('{"id":12345678901234567890,"b":1}'),
  );
  expect(JSON.stringify(kept)).toBe('{"id":12345678901234567890}');
});

test("a property named __proto__ stays a property", () => {
  const form = { properties: JSON.parse('{"__proto__":{"type":"string"}}') as object };
  expect(JSON.stringify(trim(form, JSON.parse('{"__proto__":"x","a":1}')))).toBe('{"__proto__":"x"}');
});

const board = { type: "object", properties: { id: { type: "string" } } };

test("JSON text where an object is declared is that object, at any depth", () => {
  expect(trim(board, ' {"id":"1","state":"open"}')).toEqual({ id: "1" });
  const outer = { type: "object", properties: { board, note: { type: "string" } } };
  expect(trim(outer, { board: '{"id":"1","x":2}', note: '{"id":"1"}' })).toEqual({
    board: { id: "1" },
    note: '{"id":"1"}',
  });
  expect(JSON.stringify(trim({ type: "object" }, '{"id":12345678901234567890}'))).toBe('{"id":12345678901234567890}');
});

test("JSON text without any named property stays whole", () => {
  const text = '{"success":true,"undo_data":{"entity_id":12345678901234567890}}';
  expect(JSON.stringify(trim(board, text))).toBe(text);
  // Under other names, a sensitive value would not be recognized. So the text is kept, and masked as a whole when the call is recorded.
  const secret = { type: "object", properties: { token: { type: "string", "x-sensitive": true } } };
  expect(trim(secret, text)).toBe(text);
});

test("other texts, and texts where a text is allowed, stay unchanged", () => {
  for (const text of ["", "1", "[1]", '"x"', "{", '{"id":', "not {json}"]) expect(trim(board, text)).toBe(text);
  expect(trim({ ...board, type: ["object", "string"] }, '{"id":"1"}')).toBe('{"id":"1"}');
});
