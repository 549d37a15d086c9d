import { expect, test } from "vitest";
import { defineFaults } from "./define-faults.ts";
import { call, field, text, wait } from "./fault-text.ts";

const faults = defineFaults({
  KEY_TAKEN: {
    code: "already_exists",
    field: "key",
    says: (key: string) => text`${field("key")} ${key} is taken`,
    help: (_key: string, by: string) =>
      text`Ask ${by} with ${call("GetKey", { id: "x", of: ["a", "b"] })}, or come ${wait}.`,
    retryAfterMs: (_key: string, _by: string, retryAfterMs?: number) => retryAfterMs,
  },
  PLAN_FULL: { code: "resource_exhausted", reason: "KEYS_FULL", says: "the plan is full" },
  KEYS_INVALID: {
    code: "invalid_argument",
    says: (keys: readonly string[]) => `${keys.length} keys are invalid`,
    each: (keys: readonly string[]) => [...keys].map((key) => ({ field: key })),
  },
});

test("a row makes a fault of its parameters, whose texts keep their parts", () => {
  const fault = faults.KEY_TAKEN("k1", "ada", 1_000);
  expect(fault).toMatchObject({ code: "already_exists", message: "key k1 is taken", retryAfterMs: 1_000 });
  const help = 'Ask ada with GetKey {"id": "x","of": ["a","b"]}, or come after the time of Retry-After.';
  expect(fault.details).toEqual([{ reason: "KEY_TAKEN", field: "key", help }]);
  expect(fault.says.parts).toEqual([{ kind: "field", start: 0, length: 3 }]);
  const named = fault.advice[0]?.parts.map(({ kind, start, length }) => [kind, help.slice(start, start + length)]);
  expect(named).toEqual([
    ["call", 'GetKey {"id": "x","of": ["a","b"]}'],
    ["wait", "after the time of Retry-After"],
  ]);
  expect(faults.KEY_TAKEN("k1", "ada").retryAfterMs).toBeUndefined();
});

test("a row may have another reason than its name, and a maker says its own", () => {
  expect(faults.PLAN_FULL().details).toEqual([{ reason: "KEYS_FULL", field: "", help: "" }]);
  expect([faults.PLAN_FULL.code, faults.PLAN_FULL.reason]).toEqual(["resource_exhausted", "KEYS_FULL"]);
});

test("several faults of one request are several details of one reason", () => {
  expect(faults.KEYS_INVALID(["a", "b"]).details.map(({ reason, field: at }) => [reason, at])).toEqual([
    ["KEYS_INVALID", "a"],
    ["KEYS_INVALID", "b"],
  ]);
});

test("a row whose functions take other parameters than each other does not compile", () => {
  defineFaults({
    MIXED: {
      code: "aborted",
      // @ts-expect-error: `help` takes a number first
      says: (key: string, most: number) => `${key} ${most}`,
      help: (most: number) => `${most}`,
    },
  });
  // @ts-expect-error: the maker takes a list of keys
  expect(faults.KEYS_INVALID("ab", 1).message).toBe("2 keys are invalid");
});
