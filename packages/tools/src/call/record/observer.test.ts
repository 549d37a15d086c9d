import { createId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, createTestNode } from "../test-node.ts";
import { answer } from "../test-transport.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const note = { id: "t1", text: "hello", pin: "planted-pin" };

test("each ended call is reported once, with its ids, its outcome and its times, and without its content", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const keyId = createId("key", 2);
  const job = { id: createId("job", 1), stepId: "send" };
  node.app.does(async () => {
    node.clock.advance(40);
    return answer(500, { said: "planted-words" });
  });
  const failed = await node.call(projectId, "add_note", { args: note, caller: { projectId, keyId, job } });
  expect(node.observed).toEqual([
    {
      callId: failed.callId,
      projectId,
      keyId,
      jobId: job.id,
      stepId: "send",
      toolSlug: "desk.add_note",
      accessClass: "write",
      accountId: expect.stringMatching(/^acc_/),
      outcome: failed.result.outcome,
      providerStatus: 500,
      retryable: failed.result.retryable,
      warnings: 0,
      sandbox: false,
      durationMs: 40,
      providerMs: 40,
    },
  ]);
  expect(JSON.stringify(node.observed)).not.toMatch(/planted|ann/);
});

test("calls that are wrong or need confirmation are reported too; repeats from the ledger, dry runs and unknown tools are not", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const outcomes = () => node.observed.splice(0).map(({ outcome }) => outcome);
  await node.call(projectId, "delete_ticket");
  await node.call(projectId, "add_note", { args: { id: 5 } });
  await node.call(projectId, "code_host.issue_opened");
  expect(outcomes()).toEqual(["held", "invalid_arguments", "not_callable"]);
  for (let round = 0; round < 2; round++) await node.call(projectId, "read_ticket", { idempotencyKey: "k" });
  expect(outcomes()).toEqual(["ok"]);
  await node.call(projectId, "read_ticket", { isDryRun: true });
  await node.ask(projectId, "desk.nothing");
  await node.ask(projectId, "add_note", { args: note, idempotencyKey: "k" });
  expect(outcomes()).toEqual([]);
});
