import fc from "fast-check";
import { expect, test } from "vitest";
import { cutText, firstSentence } from "./answer.ts";

test.each([
  ["Lists events. Returns them by time.", 100, "Lists events."],
  ["Lists events of\n  a calendar", 100, "Lists events of a calendar"],
  ["Takes version 1.2 or e.g. later ones. Then more.", 100, "Takes version 1.2 or e.g. later ones."],
  ["Does it! And more.", 100, "Does it!"],
  ["Lists a great many things of one calendar.", 20, "Lists a great man..."],
  ["", 20, ""],
])("the first sentence of %j in %i characters is %j", (description, lengthMax, sentence) => {
  expect(firstSentence(description, lengthMax)).toBe(sentence);
});

test("a cut text is well-formed and as long as it may be", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 3, max: 50 }), (text, lengthMax) => {
      const cut = cutText(text, lengthMax);
      expect(cut.length).toBeLessThanOrEqual(lengthMax);
      expect(cut.isWellFormed()).toBe(true);
    }),
  );
});
