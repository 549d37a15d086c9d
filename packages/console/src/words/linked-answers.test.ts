import { expect, test } from "vitest";
import { clockSentence, readConfirmation, settledSentence } from "./linked-answers.ts";

test("a settled question says who settled it: the reader, another, the clock or nobody", () => {
  const by = (principalId: string) => ({ continuation: "abort", principalId });
  expect(settledSentence("answered", by("lead"), "lead")).toBe("You answered “Stop”.");
  expect(settledSentence("answered", by("head"), "lead")).toBe("head answered “Stop”.");
  expect(settledSentence("defaulted", by(""), "lead")).toBe("Nobody answered in time, so “Stop” was used.");
  expect(settledSentence("withdrawn", undefined, "lead")).toContain("withdrawn");
});

test("what the clock will do is told before anybody answers", () => {
  expect(clockSentence("", false)).toContain("no deadline");
  expect(clockSentence("", true)).toContain("next person");
  expect(clockSentence("skip", true)).toBe("After that, the next person is asked. If nobody answers, “Skip” is used.");
});

test("the question whether a call may be sent falls into what it asks, who made the call, and its arguments", () => {
  const asks = 'Carry out sales_crm.delete_deal (destructive) with the account of "ada"?';
  const asker = 'Asked for by the key "Deal helper".';
  expect(readConfirmation(`${asks} ${asker} Arguments: {"deal_id":7}`)).toEqual({
    ...{ asks, asker, args: '{\n  "deal_id": 7\n}' },
  });
  expect(readConfirmation(`${asks} Arguments: {}`)).toEqual({ asks, asker: "", args: "{}" });
  expect(readConfirmation("12 reminders would go out. Send them?")).toBeUndefined();
});
