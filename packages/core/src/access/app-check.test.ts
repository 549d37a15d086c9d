import { expect, test } from "vitest";
import { answerFindings } from "./app-check.ts";

const tool = {
  slug: "shop.list_orders",
  outputSchemaJson: JSON.stringify({ properties: { orders: { type: "array" }, next: { type: "string" } } }),
  pagingJson: "",
};
const answer = { outcome: "ok", message: "", warnings: [] };

test.each(["null", "7", '"text"', "[]", "{}", ""])(
  "an answer without fields, %s, is a finding and no crash",
  (resultJson) => {
    expect(answerFindings(tool, { ...answer, resultJson })).toEqual([
      { part: "answer", isGood: true, says: "in the form that the definition says" },
      { part: "fields", isGood: false, says: "the answer has no orders, next" },
    ]);
  },
);

test("an answer with all fields is good", () => {
  const resultJson = JSON.stringify({ orders: [{ id: 1 }], next: "" });
  expect(answerFindings(tool, { ...answer, resultJson }).every(({ isGood }) => isGood)).toBe(true);
});
