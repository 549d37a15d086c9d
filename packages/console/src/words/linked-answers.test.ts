import { expect, test } from "vitest";
import { clockSentence, settledSentence } from "./linked-answers.ts";

test("a settled question says who settled it: the reader, another, the clock or nobody", () => {
  const by = (principalId: string) => ({ continuation: "abort", principalId });
  expect(settledSentence("answered", by("lead"), "lead")).toBe("You answered “Abort”.");
  expect(settledSentence("answered", by("head"), "lead")).toBe("head answered “Abort”.");
  expect(settledSentence("defaulted", by(""), "lead")).toBe("Nobody answered in time, so “Abort” was applied.");
  expect(settledSentence("withdrawn", undefined, "lead")).toContain("withdrawn");
});

test("what the clock will do is told before anybody answers", () => {
  expect(clockSentence("", false)).toContain("no deadline");
  expect(clockSentence("", true)).toContain("next person");
  expect(clockSentence("skip", true)).toBe(
    "It is put to the next person then, if there is one; if nobody answers, “Skip” is applied by itself.",
  );
});
