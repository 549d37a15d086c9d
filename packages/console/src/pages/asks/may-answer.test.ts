import { expect, test } from "vitest";
import { mayAnswer, planKeyOf } from "./may-answer.ts";

const seat = { keyId: "key_1", keyName: "ops", role: "approver" } as const;
const job = { submittedByKeyId: "key_1", attempts: [] };
const head = { principalId: "head", approver: true };
const approval = { approvalId: "apr_1" };

test("any seat answers a question that is no approval", () => {
  expect(mayAnswer({ approvalId: "" }, undefined, { ...seat, role: "member" }, head)).toEqual({
    ok: true,
    says: "You answer as head; the key “ops” vouches.",
  });
});

test("an approval is decided by the approver's key whose plan it is, for a contact that is an approver", () => {
  expect(mayAnswer(approval, job, seat, head).ok).toBe(true);
  expect(mayAnswer(approval, job, { ...seat, role: "member" }, head).says).toContain("a member's");
  expect(mayAnswer(approval, job, { ...seat, keyId: "key_2" }, head).says).toContain("key_1");
  expect(mayAnswer(approval, job, seat, { ...head, approver: false }).says).toContain("head is not marked approver");
  expect(mayAnswer(approval, undefined, seat, head).ok).toBe(false);
});

test("of another attempt the plan is that of the key which began it", () => {
  expect(planKeyOf({ submittedByKeyId: "key_1", attempts: [{ retryKeyId: "key_2" }] as never })).toBe("key_2");
});
