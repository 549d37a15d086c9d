import { expect, test } from "vitest";
import { changesFault } from "./changes-fault.ts";

const refused = (says: string) => ({
  reason: "OVERRIDES_INVALID",
  message: `overridesJson breaks the point's answer schema: ${says}`,
});

test("what a field was filled in with is said at that field, without a word of the API", () => {
  const said = (says: string) => [...(changesFault(refused(says)) ?? [])];
  expect(said("/minValue must be number")).toEqual([["/minValue", ["must be a number"]]]);
  expect(said("/limit must be integer")).toEqual([["/limit", ["must be a whole number"]]]);
  expect(said("/limit must be >= 0")).toEqual([["/limit", ["must be >= 0"]]]);
  expect(said("it must have required property 'minValue'")).toEqual([["", ["must have required property 'minValue'"]]]);
});

test("other refusals are left to be said as they are", () => {
  expect(changesFault({ reason: "ASK_SETTLED", message: "the ask is settled" })).toBeUndefined();
  expect(changesFault({ reason: "OVERRIDES_INVALID", message: "overridesJson is not JSON" })).toBeUndefined();
});
