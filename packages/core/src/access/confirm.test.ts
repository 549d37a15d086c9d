import { expect, test } from "vitest";
import { isAsStrict, noConfirmRule, strictestRule } from "./confirm.ts";

test("the strictest rule is as strict as each of the rules, in every order", () => {
  const writes = { person: "writes", contact: "lead", elicitation: true } as const;
  const destructive = { person: "destructive", contact: "boss" } as const;
  for (const rules of [
    [writes, noConfirmRule, destructive],
    [destructive, noConfirmRule, writes],
  ]) {
    const rule = strictestRule(rules);
    expect(rule).toEqual({ person: "writes", contact: "lead" });
    expect(rules.every((one) => isAsStrict(rule, one))).toBe(true);
  }
  expect(strictestRule([noConfirmRule, writes])).toEqual(writes);
  expect(strictestRule([])).toEqual(noConfirmRule);
});
