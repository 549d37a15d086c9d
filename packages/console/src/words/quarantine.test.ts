import { expect, test } from "vitest";
import { outcomeWords, quarantineReasons, quarantineReasonWord } from "./quarantine.ts";

test("a dry run tells what would be, a release what was done", () => {
  expect(outcomeWords("released", 1_204, true)).toBe("1,204 would become events");
  expect(outcomeWords("quarantined", 2, false)).toBe("2 failed again and stay");
  expect(outcomeWords("quarantined", 1, false)).toBe("1 failed again and stays");
  expect(outcomeWords("quarantined", 1, true)).toBe("1 would fail again and stay");
  expect(outcomeWords("released", 1, false)).toBe("1 became an event");
  expect(outcomeWords("newer", 1, false)).toBe("1 newer");
});

test("each reason says when the post release it, and a new one is shown as it is", () => {
  for (const reason of quarantineReasons) expect(quarantineReasonWord(reason).says).toContain("release it");
  expect(quarantineReasonWord("newer").word).toBe("newer");
});
