import { expect, test } from "vitest";
import { mayAnswer, planKeyOf } from "./may-answer.ts";

const seat = { keyId: "key_1", keyName: "ops", role: "approver" } as const;
const job = { submittedByKeyId: "key_1", attempts: [] };
const head = { principalId: "head", approver: true };
const approval = { approvalId: "apr_1", pointId: "approval", stepId: "" };
const question = { approvalId: "", pointId: "tooMany", stepId: "gate" };

test("any seat answers a question that is no approval", () => {
  expect(mayAnswer(question, undefined, { ...seat, role: "member" }, head)).toEqual({
    ok: true,
    says: "Answering as head, using “ops”.",
  });
});

test("an approval is decided by the approver's key whose plan it is, for a contact that is an approver", () => {
  expect(mayAnswer(approval, job, seat, head).ok).toBe(true);
  expect(mayAnswer(approval, job, { ...seat, role: "member" }, head).says).toContain("role member");
  expect(mayAnswer(approval, job, { ...seat, keyId: "key_2" }, head).says).toContain("key_1");
  expect(mayAnswer(approval, job, seat, { ...head, approver: false }).says).toContain("head is not an approver");
  expect(mayAnswer(approval, undefined, seat, head).ok).toBe(false);
});

test("of another attempt the plan is that of the key which began it", () => {
  expect(planKeyOf({ submittedByKeyId: "key_1", attempts: [{ retryKeyId: "key_2" }] as never })).toBe("key_2");
});

test("what is to be confirmed is answered by any key but that which made it", () => {
  const confirmation = { approvalId: "", pointId: "confirm", stepId: "" };
  expect(mayAnswer(confirmation, job, seat, head)).toMatchObject({
    ok: false,
    says: expect.stringContaining("another key"),
  });
  expect(mayAnswer(confirmation, job, { ...seat, keyId: "key_2", role: "member" }, head).ok).toBe(true);
});
