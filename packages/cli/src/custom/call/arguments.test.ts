import { expect, test } from "vitest";
import { CommandError } from "../../command/error.ts";
import { typeArguments } from "./arguments.ts";

const schema = {
  type: "object",
  properties: {
    title: { type: "string" },
    count: { type: "integer" },
    share: { type: ["number", "null"] },
    isOpen: { type: "boolean" },
    labels: { type: "array", items: { type: "string" } },
    numbers: { type: "array", items: { type: "integer" } },
    start: {
      type: "object",
      properties: { day: { type: "string" }, hour: { type: "integer" }, zone: { type: "object", properties: {} } },
    },
    order: { enum: ["age", 5] },
    to: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
    guests: { type: "array", items: { type: "object" } },
    "a.b": { type: "integer" },
    any: {},
  },
};

function typed(...pairs: string[]): string {
  const args = pairs.map((pair) => {
    const at = pair.indexOf("=");
    return { name: pair.slice(0, at), text: pair.slice(at + 1) };
  });
  return JSON.stringify(typeArguments(schema, args));
}

test.each([
  [["title=5"], '{"title":"5"}'],
  [['title={"a":1}'], '{"title":"{\\"a\\":1}"}'],
  [["title="], '{"title":""}'],
  [["title=a=b"], '{"title":"a=b"}'],
  [["count=5"], '{"count":5}'],
  [["count=9007199254740993"], '{"count":9007199254740993}'],
  [["share=0.50"], '{"share":0.50}'],
  [["share=null"], '{"share":null}'],
  [["isOpen=true"], '{"isOpen":true}'],
  [["labels=urgent"], '{"labels":["urgent"]}'],
  [["labels=urgent", "labels=a,b"], '{"labels":["urgent","a,b"]}'],
  [['labels=["urgent"]'], '{"labels":["urgent"]}'],
  [["numbers=1", "numbers=2"], '{"numbers":[1,2]}'],
  [['start={"day":"2026-03-14"}'], '{"start":{"day":"2026-03-14"}}'],
  [["start.day=5", "start.hour=7"], '{"start":{"day":"5","hour":7}}'],
  [['start={"day":"x"}', "start.hour=7"], '{"start":{"day":"x","hour":7}}'],
  [["order=5"], '{"order":5}'],
  [["order=age"], '{"order":"age"}'],
  [["to=ada"], '{"to":"ada"}'],
  [["to=ada", "to=bob"], '{"to":["ada","bob"]}'],
  [['guests={"email":"a@example.com"}'], '{"guests":[{"email":"a@example.com"}]}'],
  [["a.b=5"], '{"a.b":5}'],
  [["any=5"], '{"any":5}'],
  [["any=five"], '{"any":"five"}'],
])("%j become values of the schema: %s", (pairs, json) => {
  expect(typed(...pairs)).toBe(json);
});

test.each([
  [["count=five"], '{"count":"five"}'],
  [["isOpen=yes"], '{"isOpen":"yes"}'],
  [["unknown=x"], '{"unknown":"x"}'],
])("what is no value of the schema, %j, is left for the service to judge", (pairs, json) => {
  expect(typed(...pairs)).toBe(json);
});

test.each([
  [["title=a", "title=b"], "--arg title is given 2 times and is not a list"],
  [["start={day}"], "--arg start is not JSON:"],
  [["labels=[urgent"], "--arg labels is not JSON:"],
  [["title=a", "title.b=c"], "--arg title.b: title already has a value"],
])("%j is refused: %s", (pairs, message) => {
  expect(() => typed(...pairs)).toThrow(CommandError);
  expect(() => typed(...pairs)).toThrow(message);
});

test("typed arguments go over those of --args-json, which stay as they were", () => {
  const given = { title: "a", start: { day: "x" } };
  const args = typeArguments(schema, [{ name: "start.hour", text: "7" }], given);
  expect(args).toMatchObject({ title: "a", start: { day: "x" } });
  expect(JSON.stringify(args)).toBe('{"title":"a","start":{"day":"x","hour":7}}');
  expect(given).toEqual({ title: "a", start: { day: "x" } });
});

test("a name of the language's own is an argument like any other", () => {
  expect(typed("__proto__=x", "constructor.a=1")).toBe('{"__proto__":"x","constructor":{"a":1}}');
});
