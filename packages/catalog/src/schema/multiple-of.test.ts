import { rawJson } from "@svc/core";
import { expect, test } from "vitest";
import { createTenantValidators, createValidator } from "./json-schema.ts";

const factories = [createValidator, createTenantValidators()];

test.each([
  [0.01, "19.99", true],
  [0.01, "0.07", true],
  [0.01, "-1.15", true],
  [0.01, "19.999", false],
  [0.01, "0", true],
  [0.01, "-0.0", true],
  [0.1, "0.3", true],
  [0.1, "1.1", true],
  [0.0001, "0.0075", true],
  [0.05, "4.35", true],
  [0.05, "4.36", false],
  [2.5, "7.5", true],
  [2.5, "7.4", false],
  [1, "1.0", true],
  [1, "1.5", false],
  [1, "1e3", true],
  [5, "1e300", true],
  [7, "1e22", false],
  [3, "1e22", false],
  [0.01, "1e308", true],
  [1e-8, "0.00000123", true],
  [1e-8, "1e-9", false],
  [1e-7, "0.0000003", true],
  [1e22, "3e22", true],
  [1e22, "5e21", false],
  [0.01, "123456789012345678901234567890.12", true],
  [0.01, "123456789012345678901234567890.123", false],
  [0.01, "4503599627370497.55", true],
  [1, "4503599627370497.5", false],
  [2, "9007199254740993", false],
  [3, "9007199254740993", true],
  [0.1, "0.1234567890123456789", false],
  [0.01, "1e-400", false],
] as const)("of multiples of %d: %s is one: %j", (multipleOf, text, isOne) => {
  const schema = { type: "object", properties: { "a/b": { type: "array", items: { type: "number", multipleOf } } } };
  const number = rawJson(text);
  for (const create of factories) {
    const faults = create(schema)({ "a/b": [number] });
    expect(faults).toEqual(isOne ? [] : [{ pointer: "/a~1b/0", message: `must be multiple of ${multipleOf}` }]);
  }
});

test("a number of very many digits is judged in a bounded time", () => {
  const value = [rawJson(`0.${"0".repeat(1_000_000)}7`), rawJson(`7.${"7".repeat(1_000_000)}`)];
  const before = process.cpuUsage().user;
  expect(createValidator({ items: { multipleOf: 7 } })(value)).toHaveLength(2);
  expect(process.cpuUsage().user - before).toBeLessThan(1_000_000);
});
