import { expect, test } from "vitest";
import { jsonOfCel } from "./cel-values.ts";

test.each([
  9_007_199_254_740_991n,
  9_007_199_254_740_993n,
  1_152_921_504_606_846_976n,
  -9_223_372_036_854_775_808n,
  9_223_372_036_854_775_807n,
])("the whole number %s keeps its digits, also where a double holds it and would be written with others", (whole) => {
  expect(jsonOfCel(whole)).toEqual({ text: String(whole) });
});
