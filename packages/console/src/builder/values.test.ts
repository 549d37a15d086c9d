import { expect, test } from "vitest";
import { chipWords, fits, formOf, holdsForms, textParts, withName } from "./values.ts";

test("a value with other members than those of its form is plain, so that nothing of it is lost", () => {
  expect([{ $ref: "a" }, { $ref: "a", else: 1 }, { $text: "x" }, { $cel: "1" }].map(formOf)).toEqual([
    "ref",
    "ref",
    "text",
    "cel",
  ]);
  expect([{ $ref: "a", more: 1 }, { $ref: 1 }, { $literal: "x" }, "x", null, [1], {}].map(formOf)).toEqual(
    Array(7).fill("plain"),
  );
});

test("a text is split into words and the names of its values", () => {
  expect(textParts("{input.day}: {steps.sum.of} {{deals}}")).toEqual([
    { words: "day", name: "input.day" },
    { words: ": ", name: "" },
    { words: "sum · of", name: "steps.sum.of" },
    { words: " {deals}", name: "" },
  ]);
  expect(textParts("")).toEqual([]);
  expect(textParts("{")).toEqual([{ words: "{", name: "" }]);
});

test("a value is added at the end of a text, or takes the place of anything else", () => {
  expect(withName(undefined, "row.id")).toEqual({ $ref: "row.id" });
  expect(withName(5, "row.id")).toEqual({ $ref: "row.id" });
  expect(withName("Hi {you}", "row.name")).toEqual({ $text: "Hi {{you} {row.name}" });
  expect(withName({ $text: "Hi", else: "" }, "row.name")).toEqual({ $text: "Hi {row.name}", else: "" });
});

test("forms are found at any depth", () => {
  expect([holdsForms({ a: [{ b: { $ref: "x" } }] }), holdsForms({ a: [1, "x"] })]).toEqual([true, false]);
});

test("unknown types fit, and any value fits a text", () => {
  expect([
    fits("", "number"),
    fits("integer or null", "number"),
    fits("object", "number"),
    fits("number", "string"),
  ]).toEqual([...[true, true, false, true]]);
  expect(chipWords("rows.deals")).toBe("deals");
});
