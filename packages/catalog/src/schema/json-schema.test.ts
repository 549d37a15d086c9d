import { parseExactJson } from "@svc/core";
import { processorBudgetMs } from "@svc/testing/processor";
import { expect, test } from "vitest";
import { createTenantValidators, createValidator } from "./json-schema.ts";

const times = <T>(count: number, item: T) => Array.from({ length: count }, () => item);
const named = <T>(count: number, item: T) => Object.fromEntries(times(count, item).map((each, n) => [`p${n}`, each]));
const argumentsOf = (a: object) => ({ type: "object", additionalProperties: false, properties: { a } });
const listOf = (items: object) => argumentsOf({ type: "array", items });
const manyTypes = times(900, { type: "string" });
const enumeration = Array.from({ length: 1500 }, (_, n) => `value number ${n} of a long list`);

/** Returns the CPU time that `run` takes, in milliseconds. Time of other processes and of the threads of V8 does not count. */
function costOf(run: () => unknown): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Returns the least cost of a run, in milliseconds, over groups of runs: the system counts the time of a thread in steps of some
 * milliseconds. Tries again while the cost is above `enough`, because a busy machine adds cost.
 */
function leastCostOf(run: () => unknown, enough: number): number {
  const runs = 5;
  const group = () => {
    for (let turn = 0; turn < runs; turn += 1) run();
  };
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 8 && least >= enough; tries += 1) least = Math.min(least, costOf(group) / runs);
  return least;
}

test.each<[string, object, unknown]>([
  ["types times items", listOf({ allOf: manyTypes }), { a: times(100_000, 1) }],
  ["types times items within the budget", listOf({ allOf: manyTypes }), { a: times(300, 1) }],
  ["choices times items", listOf({ anyOf: manyTypes }), { a: times(300, 1) }],
  ["choices of one that is looked for", argumentsOf({ contains: { anyOf: manyTypes } }), { a: times(100_000, 1) }],
  ["choices within choices", argumentsOf({ anyOf: [{ items: { type: "string" } }] }), { a: times(200_000, 1) }],
  ["a long enum times items", listOf({ enum: enumeration }), { a: times(600, 1) }],
  ["lengths of a long text", argumentsOf({ allOf: times(600, { maxLength: 1e9 }) }), { a: "x".repeat(1_000_000) }],
  ["declared names times items", listOf({ properties: named(600, { type: "string" }) }), { a: times(100_000, {}) }],
  ["unknown properties", argumentsOf({}), named(200_000, 1)],
  ["a long name", { type: "object", additionalProperties: { allOf: manyTypes } }, { ["~".repeat(500_000)]: 1 }],
  ["a schema of thousands", argumentsOf({ allOf: times(3000, { type: "string" }) }), { a: 1 }],
  ["a deep choice", argumentsOf({ oneOf: times(2000, { type: "string" }) }), { a: 1 }],
  ["a pattern that grows", argumentsOf({ pattern: "(?:[ab]{0,30}a){29}[^ab]$" }), { a: "abaab".repeat(8000) }],
  ["patterns times items", listOf({ pattern: "([ab]{0,30}a){9}c" }), { a: times(100_000, "abaab".repeat(8)) }],
])("a tenant's schema and value cost a bounded time and a short answer: %s", (_, schema, value) => {
  const validate = createTenantValidators()(schema as Record<string, unknown>);
  let faults: readonly object[] = [];
  expect(
    costOf(() => {
      faults = validate(value);
    }),
  ).toBeLessThan(2000);
  expect(faults.length).toBeGreaterThan(0);
  expect(faults.length).toBeLessThanOrEqual(100);
  expect(JSON.stringify(faults).length).toBeLessThan(50_000);
});

const line = named(20, { type: "string", maxLength: 5 });
const growing: readonly (readonly [string, object, (size: number) => unknown])[] = [
  ["many rules for each item", listOf({ allOf: manyTypes }), (size) => times(size, "x")],
  ["many choices for each item", listOf({ anyOf: manyTypes }), (size) => times(size, 1)],
  ["a plain item", listOf({ type: "string" }), (size) => times(size * 100, "x")],
  ["rows with 20 fields", listOf({ type: "object", properties: line }), (size) => times(size * 5, named(20, "abc"))],
  ["rows with nulls", listOf({ anyOf: [{ type: "null" }, { properties: line }] }), (size) => times(size, named(20, 1))],
  ["a format", listOf({ format: "email" }), (size) => times(size * 10, "a@example.com")],
  ["a pattern", argumentsOf({ pattern: "^(?:[ab]{0,30}a){2}[^ab]$" }), (size) => "abaab".repeat(size * 5)],
];

test.each(growing)(
  "no value holds the event loop for more than 10 ms, however large it is: %s",
  (_name, schema, itemsOf) => {
    const validate = createTenantValidators()(schema as Record<string, unknown>);
    // Next to other schemas of the process the engine's code is more general, and takes up to a third longer than alone.
    const budget = processorBudgetMs(16);
    let longest = 0;
    for (let size = 1; ; size = Math.ceil(size * 1.3)) {
      const value = { a: itemsOf(size) };
      if (JSON.stringify(validate(value)).includes("too large to judge")) break;
      longest = Math.max(
        longest,
        leastCostOf(() => validate(value), budget),
      );
    }
    expect(longest).toBeGreaterThan(0);
    expect(longest).toBeLessThan(budget);
  },
);

test("values of a sensible size are judged, however many rules a schema has", () => {
  const items = Array.from({ length: 50_000 }, (_, n) => `item ${n}`);
  const one = (schema: object, value: unknown) => createTenantValidators()(schema as Record<string, unknown>)(value);
  expect(one(argumentsOf({ type: "array", uniqueItems: true, items: { type: "string" } }), { a: items })).toEqual([]);
  expect(one(argumentsOf({ enum: enumeration }), { a: enumeration[1400] })).toEqual([]);
  expect(
    one(listOf({ pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" }), {
      a: times(2000, "01234567-89ab-cdef-0123-456789abcdef"),
    }),
  ).toEqual([]);
  expect(one(argumentsOf({ pattern: "^[a-z]+$" }), { a: "a".repeat(50_000) })).toEqual([]);
});

test("each text is judged by its own pattern, within a schema and among the schemas of one factory", () => {
  const factory = createTenantValidators();
  const letters = ["A", "B", "C"];
  const textOf = (letter: string) => ({ type: "string", pattern: `^${letter}[0-9]$` });
  const validators = letters.map((letter) => factory(argumentsOf(textOf(letter))));
  for (const [at, validate] of validators.entries())
    expect(letters.map((letter) => validate({ a: `${letter}1` }).length)).toEqual(letters.map((_, n) => +(n !== at)));
  const all = factory({ type: "object", properties: Object.fromEntries(letters.map((one) => [one, textOf(one)])) });
  expect(all({ A: "A1", B: "B1", C: "C1" })).toEqual([]);
  expect(all({ A: "B1", B: "A1", C: "C1" }).map(({ pointer }) => pointer)).toEqual(["/A", "/B"]);
  const named = { "^x": { type: "string" }, "^n": { type: "number" } };
  const byName = factory({ type: "object", patternProperties: named });
  expect(byName({ x1: "a", n1: 1 })).toEqual([]);
  expect(byName({ x1: 1, n1: "a" }).map(({ pointer }) => pointer)).toEqual(["/x1", "/n1"]);
});

test("the budget of patterns is that of one value, not of the validator", () => {
  const validate = createTenantValidators()(argumentsOf({ type: "string", pattern: "^[a-z]+$" }));
  for (let round = 0; round < 20; round++) expect(validate({ a: "a".repeat(50_000) })).toEqual([]);
  expect(validate({ a: "a".repeat(1_000_000) })).toEqual([
    { pointer: "", message: expect.stringContaining("too large to judge") },
  ]);
  expect(validate({ a: "abc" })).toEqual([]);
});

test("a list that is too long is one fault, and the items that may stay are judged", () => {
  const schema = argumentsOf({
    type: "array",
    maxItems: 2,
    items: { type: "object", properties: { b: { maxItems: 1, items: { type: "string" } } } },
  });
  const validate = createValidator(schema);
  const cost = costOf(() => {
    expect(validate({ a: times(200_000, 1) })).toEqual([
      { pointer: "/a", message: "must NOT have more than 2 items, and has 200000" },
      { pointer: "/a/0", message: "must be object" },
      { pointer: "/a/1", message: "must be object" },
    ]);
  });
  expect(cost).toBeLessThan(1000);
  expect(validate({ a: [{ b: ["x", 5] }] })).toEqual([
    { pointer: "/a/0/b", message: "must NOT have more than 1 items, and has 2" },
  ]);
});

test("100 faults are listed, of more the last one counts the others", () => {
  const validate = createValidator(listOf({ type: "string" }));
  expect(validate({ a: times(100, 1) })).toHaveLength(100);
  const faults = validate({ a: times(150, 1) });
  expect(faults).toHaveLength(100);
  expect(faults[99]).toEqual({ pointer: "", message: "and 51 more faults, which are not listed" });
  expect(validate({ a: times(100_000, 1) })).toHaveLength(100);
});

test("a number beyond the largest double is said to be too large", () => {
  const value = parseExactJson('{"a":1e400}');
  expect(createValidator(argumentsOf({ type: "number" }))(value)).toEqual([
    { pointer: "/a", message: "is too large for a number" },
  ]);
});

test("long enums, values and names are quoted in part", () => {
  const [fault] = createValidator(argumentsOf({ enum: enumeration }))({ a: 1 });
  expect(fault?.message).toMatch(/^must be one of value number 0 of a long list, .*, and \d+ more$/);
  expect(fault?.message.length).toBeLessThan(400);
  expect(createValidator(argumentsOf({ enum: ["a", null, 3] }))({ a: 1 })[0]?.message).toBe(
    "must be one of a, null, 3",
  );
  const near = createValidator(argumentsOf({ enum: ["open", "won", "lost"] }))({ a: "opened" });
  expect(near[0]?.message).toBe("must be one of open, won, lost (did you mean open?)");
  const long = "x".repeat(100_000);
  expect(createValidator(argumentsOf({ const: long }))({ a: 1 })[0]?.message.length).toBeLessThan(400);
  expect(
    JSON.stringify(createValidator(argumentsOf({ additionalProperties: { type: "string" } }))({ a: { [long]: 1 } })),
  ).toBe('[{"pointer":"/a","message":"must be string"}]');
});

/** Returns a schema with `if` and `then`. It is not an object literal, because an object with `then` looks like a promise. */
const rule = (condition: object, consequence: object | boolean) =>
  JSON.parse(`{ "if": ${JSON.stringify(condition)}, "then": ${JSON.stringify(consequence)} }`) as object;

const either = { oneOf: [{ required: ["start_date"] }, { required: ["start_time"] }] };
const dates = { type: "object", properties: { start_date: {}, start_time: {}, zone: {} } };
const user = {
  type: "object",
  required: ["kind", "name"],
  properties: { kind: { const: "user" }, name: { type: "string" } },
};
const group = {
  type: "object",
  required: ["kind", "size"],
  properties: { kind: { const: "group" }, size: { type: "integer" } },
};

test.each<[string, object, unknown, [string, string][]]>([
  ["neither", { ...dates, ...either }, {}, [["", "must have either start_date or start_time"]]],
  [
    "both",
    { ...dates, ...either },
    { start_date: 1, start_time: 1 },
    [["", "must have either start_date or start_time, and not both"]],
  ],
  [
    "none of several",
    { anyOf: [{ required: ["a"] }, { required: ["b", "c"] }, { required: ["d"] }] },
    {},
    [["", "must have at least one of a, b and c or d"]],
  ],
  [
    "several of three",
    { oneOf: [{ required: ["a"] }, { required: ["b"] }, { required: ["c"] }] },
    { a: 1, b: 1, c: 1 },
    [["", "must have one of a, b or c, and not several"]],
  ],
  ["in an item", { items: either }, [{ start_date: 1 }, {}], [["/1", "must have either start_date or start_time"]]],
  [
    "beside others",
    { ...either, required: ["zone"] },
    {},
    [
      ["", "must have either start_date or start_time"],
      ["", "must have required property 'zone'"],
    ],
  ],
  ["a rule", rule({ required: ["a"] }, { required: ["b"] }), { a: 1 }, [["", "must have required property 'b'"]]],
  [
    "a rule's other branch",
    { if: { required: ["a"] }, else: { required: ["b"] } },
    {},
    [["", "must have required property 'b'"]],
  ],
  ["a choice in a rule", rule({}, either), {}, [["", "must have either start_date or start_time"]]],
  ["a rule that forbids", rule({ required: ["a"] }, false), { a: 1 }, [["", "boolean schema is false"]]],
  ["types", { anyOf: [{ type: "string" }, { type: "integer" }] }, true, [["", "must be string or integer"]]],
  [
    "null or a value",
    { anyOf: [{ type: "null" }, { type: "object", properties: { b: { type: "string" } } }] },
    { b: 1 },
    [["/b", "must be string"]],
  ],
  ["null or a value of another type", { anyOf: [{ type: "null" }, { type: "string" }] }, 1, [["", "must be string"]]],
  [
    "the form that was meant",
    { oneOf: [user, group] },
    { kind: "group" },
    [["", "must have required property 'size'"]],
  ],
  [
    "the type that was meant",
    { anyOf: [{ type: "string" }, group] },
    { kind: "group" },
    [["", "must have required property 'size'"]],
  ],
  [
    "no form",
    { oneOf: [user, group] },
    { kind: "x" },
    [["", expect.stringMatching(/^must have one of 2 forms: it .*'name'; or it .*/) as unknown as string]],
  ],
  [
    "two forms",
    { oneOf: [{ type: "string" }, { minLength: 1 }] },
    "a",
    [["", "must have exactly one of 2 forms, and has 2 of them"]],
  ],
  [
    "none that is looked for",
    { contains: { type: "string" } },
    [1, 2, 3],
    [["", "must contain at least 1 valid item(s)"]],
  ],
  [
    "names",
    { propertyNames: { maxLength: 2 } },
    { abc: 1 },
    [["", "has a property whose name must NOT have more than 2 characters"]],
  ],
])("a choice or a rule is one fault: %s", (_, schema, value, expected) => {
  const faults = createValidator(schema as Record<string, unknown>)(value);
  expect(faults.map(({ pointer, message }) => [pointer, message])).toEqual(expected);
});

test("a fault names the property that is missing or unknown, and the declared one that may have been meant", () => {
  const schema = {
    type: "object",
    additionalProperties: false,
    required: ["calendar_id"],
    properties: { calendar_id: {}, title: {} },
  };
  const validate = createValidator(schema);
  expect(validate({ calendarId: "primary" })).toEqual([
    {
      pointer: "",
      message: "must have required property 'calendar_id'",
      property: "calendar_id",
      missing: "calendar_id",
    },
    {
      pointer: "",
      message: 'must not have the property "calendarId"; did you mean "calendar_id"?',
      property: "calendarId",
    },
  ]);
  expect(validate({ calendar_id: 1, calendarId: 1 })[0]?.message).toBe('must not have the property "calendarId"');
  expect(validate({ calendar_id: 1, frobnicate: 1 })[0]?.message).toBe('must not have the property "frobnicate"');
});
