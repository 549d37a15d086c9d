import { expect, test } from "vitest";
import { compileKeyExpression, type KeyBindings } from "./key-expression.ts";

const bindings: KeyBindings = { toolSlug: "desk.read", entityId: "ann", accountId: "acc_1", accessClass: "write" };

function keyOf(source: string, changes: Partial<KeyBindings> = {}) {
  const compiled = compileKeyExpression(source);
  if ("fault" in compiled) throw new Error(compiled.fault);
  return compiled.keyOf({ ...bindings, ...changes });
}

test.each([
  ["", ""],
  ["accountId", "acc_1"],
  ["'all'", "all"],
  ["toolSlug + '/' + entityId", "desk.read/ann"],
  ["accessClass == 'read' ? null : accountId", "acc_1"],
  ["accessClass != 'read' ? null : accountId", undefined],
  ["accessClass == 'read'", "false"],
  ["accessClass in ['write', 'destructive'] ? 'writes' : null", "writes"],
  ["size(entityId)", "3"],
  ["toolSlug.startsWith('desk.') && !entityId.contains('x')", "true"],
])("%s makes the key %s", (source, key) => {
  expect(keyOf(source)).toBe(key);
});

test.each([
  ["accountID", "names accountID"],
  ["accountId +", ""],
  ["accountId.matches('a+')", "uses matches"],
  ["[1, 2].exists(x, x == 1)", "a limiter key cannot have"],
  ["{'a': accountId}", "a limiter key cannot have"],
  ["[accountId]", "cannot be evaluated"],
  ["accountId + 1", "cannot be evaluated"],
  [`'${"a".repeat(500)}'`, "at most 500"],
  [Array.from({ length: 40 }, () => "accountId").join(" + "), "more than 50 parts"],
])("%.60s is refused", (source, why) => {
  const compiled = compileKeyExpression(source);
  expect(compiled).toHaveProperty("fault");
  if ("fault" in compiled) expect(compiled.fault).toContain(why);
});
