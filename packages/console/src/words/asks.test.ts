import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AskState } from "@svc/gen/jobs";
import { expect, test } from "vitest";
import { clockWords, decisionWords, ladderRungs, splitQuestion } from "./asks.ts";

const now = 1_800_000_000_000;
const hop = (principalId: string, timeoutSeconds: number) => ({ principalId, timeoutSeconds }) as never;
const ask = {
  escalation: [hop("lead", 14_400), hop("head", 72_000)],
  hopIndex: 0,
  deadlineAt: timestampFromMs(now + 13_980_000),
  state: AskState.PENDING,
  exhausted: false,
  ...{ approvalId: "", pointId: "tooMany", stepId: "gate" },
  deliveredPrincipals: ["lead"],
  defaultContinuation: "abort",
};

test("the ladder counts down at who holds the question, and says who is next", () => {
  expect(ladderRungs(ask, now).map(({ principalId, says }) => `${principalId} ${says}`)).toEqual([
    "lead has 3 h 53 min to answer",
    "head is asked next, for 20 h",
  ]);
  expect(ladderRungs({ ...ask, hopIndex: 1 }, now)[0]?.says).toContain("may still answer");
});

test("once it is answered, those whom it did not reach were not asked", () => {
  const answered = { ...ask, state: AskState.ANSWERED };
  expect(ladderRungs(answered, now).map(({ principalId, says }) => `${principalId} ${says}`)).toEqual([
    "lead was asked last",
    "head was not asked",
  ]);
});

test("it is said what the clock will do, and that no clock approves", () => {
  expect(clockWords(ask)).toBe("After that, head is asked. If nobody answers, svc answers “Stop the job”.");
  expect(clockWords({ ...ask, hopIndex: 1 })).toContain("svc answers “Stop the job”");
  expect(clockWords({ ...ask, hopIndex: 1, defaultContinuation: "" })).toContain("without a deadline");
  expect(clockWords({ ...ask, approvalId: "apr_1" })).toContain("An approval has no deadline");
  expect(clockWords({ ...ask, pointId: "confirm", stepId: "" })).toContain("the call is refused");
});

test("of an approval everyone may decide at once", () => {
  const approval = { ...ask, escalation: [], approvalId: "apr_1", deliveredPrincipals: ["owner", "head"] };
  expect(ladderRungs(approval, now).map(({ principalId, says }) => `${principalId} ${says}`)).toEqual([
    "owner may decide",
    "head may decide",
  ]);
});

test("a decision is the person's, or the clock's", () => {
  const by = (continuation: string) => ({ principalId: "head", continuation, surface: "api" });
  expect(decisionWords(by("skip"), false)).toBe("head answered skip");
  expect(decisionWords(by("proceed"), true)).toBe("head approved");
  expect(decisionWords(by("abort"), true)).toBe("head rejected");
  expect(decisionWords({ principalId: "", continuation: "abort", surface: "timeout" }, false)).toContain(
    "The program's default was used: abort",
  );
});

test("what an approval asks stands apart from what more it says; a question of a program is whole", () => {
  const asks = 'Approve the plan "Delete the lost deals"?';
  expect(splitQuestion(`${asks} At most 10 calls.`)).toEqual([asks, "At most 10 calls."]);
  expect(splitQuestion("3 reminders would go out. Send them?")).toEqual(["3 reminders would go out. Send them?", ""]);
});
