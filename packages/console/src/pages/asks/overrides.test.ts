import { expect, test } from "vitest";
import { overrideFaults, overrideFields, overridesJson } from "./overrides.ts";

const fields = overrideFields(
  JSON.stringify({
    required: ["minValue"],
    properties: {
      minValue: { type: "number", description: "least worth" },
      note: { type: "string" },
      loud: { type: "boolean" },
      size: { enum: ["s", "l"] },
      ids: { type: "array" },
    },
  }),
);

test("a field is of the kind that the schema gives it", () => {
  expect(fields.map(({ kind }) => kind)).toEqual(["number", "text", "boolean", "choice", "json"]);
  expect(fields[0]).toMatchObject({ isRequired: true, says: "least worth" });
  expect(overrideFields("")).toEqual([]);
});

test("an answer has what was typed, each as its kind, and numbers keep their digits", () => {
  const typed = { minValue: "5000.10", note: "7", loud: "true", ids: "[1, 2]", size: "" };
  expect(overridesJson(fields, typed)).toBe('{"minValue":5000.10,"note":"7","loud":true,"ids":[1, 2]}');
  expect(overridesJson(fields, {})).toBe("");
});

test("what cannot be read is faulted at its field", () => {
  expect(overrideFaults(fields, { minValue: "4x", ids: "[" })).toEqual({
    minValue: "4x is not a number.",
    ids: "This is not JSON.",
  });
  expect(overrideFaults(fields, {})).toEqual({ minValue: "Give a value." });
});
