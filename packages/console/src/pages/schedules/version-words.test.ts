import { expect, test } from "vitest";
import { changedWords } from "./version-words.ts";

const first = { programHash: "p1", definitionHash: "d1", note: "" };

test("a version says whether its program is another, or only what starts it", () => {
  expect(changedWords(first, undefined)).toBe("the first");
  expect(changedWords({ ...first, programHash: "p2", definitionHash: "d2" }, first)).toBe("another program");
  expect(changedWords({ ...first, definitionHash: "d2" }, first)).toContain("same program");
  expect(changedWords({ ...first, note: "x.y" }, first)).toBe("tools have changed");
});
