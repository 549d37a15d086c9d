import { expect, test } from "vitest";
import { placeProgramFaults } from "./check-words.ts";

const text = '{\n  "version": 1,\n  "steps": [\n    {\n      "id": "a",\n      "call": "x.y"\n    }\n  ]\n}\n';
const fault = { reason: "R", message: "wrong", help: "right" };

test("each fault stands at its line, in the order of the text, with the service's hint", () => {
  const placed = placeProgramFaults(text, [
    { ...fault, field: "programJson/steps/0/call" },
    { ...fault, field: "programJson/version" },
    { ...fault, field: "programJson/steps/0/entity" },
  ]);
  expect(placed.map(({ line }) => line)).toEqual([2, 4, 6]);
  expect(placed[2]?.mark.text).toBe("wrong\nright");
  expect(text.slice(placed[2]?.mark.from, placed[2]?.mark.to)).toBe('"call": "x.y"');
});

test("a mark does not reach beyond its line", () => {
  const [placed] = placeProgramFaults(text, [{ ...fault, field: "programJson/steps" }]);
  expect(text.slice(placed?.mark.from, placed?.mark.to)).toBe('"steps": [');
});
