import fc from "fast-check";
import { expect, test } from "vitest";
import { positionsOf } from "./secret-forms.ts";

test("a long part is found where the engine's own search finds it", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 0, maxLength: 40 });
  fc.assert(
    fc.property(letters, fc.array(letters, { maxLength: 8 }), (end, between) => {
      const part = `${"ab".repeat(140)}${end}`;
      const text = between.join(part);
      const places: number[] = [];
      for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
      expect(positionsOf(text, part)).toEqual(places);
    }),
  );
  expect(positionsOf("abcabcabc", "abc")).toEqual([0, 3, 6]);
});
