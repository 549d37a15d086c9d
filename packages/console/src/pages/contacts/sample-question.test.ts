import { expect, test } from "vitest";
import { sampleArguments } from "./sample-question.ts";

test("the texts of a reach are filled in, and stay JSON", () => {
  const filled = JSON.parse(sampleArguments('{"text":"{question} ({requestId}) {{x}","id":4}'));
  expect(filled.text).toBe("This is a test. No answer is needed. (ask_00000000000000000000000000) {x}");
  expect(filled.id).toBe(4);
});
