import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import type { CallRequest } from "../call-request.ts";
import { addProject, createTestNode } from "../test-node.ts";
import { answer, cut, unreachable } from "../test-transport.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const note = { id: "t1", text: "hello" };

test("a write in doubt may be repeated only if the caller keeps the app's key", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const retryable = async (tool: string, changes: Partial<CallRequest> = {}) => {
    node.app.does(cut, cut);
    const { result } = await node.call(projectId, tool, { args: note, ...changes });
    expect(result.outcome).toBe("outcome_unknown");
    return result.retryable;
  };
  expect(await retryable("pay", { args: { ...note, key: "mine" } })).toBe(true);
  expect(await retryable("charge", { appKey: "job-step" })).toBe(true);
  expect(await retryable("charge")).toBe(false);
  expect(await retryable("charge", { idempotencyKey: "k" })).toBe(false);
});

test("a 401 renews the token: a read is sent again, a write is left to its caller", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  node.accounts.refusals.renews = true;
  node.app.does(answer(401));
  expect((await node.call(projectId, "read_ticket")).result.outcome).toBe("ok");
  expect([node.app.requests.length, node.accounts.refusals.count]).toEqual([2, 1]);
  node.app.does(answer(401));
  const write = await node.call(projectId, "add_note", { args: note });
  expect(write.result).toMatchObject({ outcome: "account_unusable", retryable: true, providerStatus: 401 });
  expect(node.app.requests).toHaveLength(3);
  node.accounts.refusals.renews = false;
  node.app.does(answer(401));
  expect((await node.call(projectId, "read_ticket")).result).toMatchObject({
    outcome: "account_unusable",
    retryable: false,
  });
  node.accounts.refusals.renews = true;
  node.app.does(answer(401), answer(401));
  expect((await node.call(projectId, "read_ticket")).result).toMatchObject({ outcome: "account_unusable" });
});

test("reads send a cut connection's request again, and unkeyed writes never", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  node.app.does(cut);
  expect((await node.call(projectId, "read_ticket")).result.outcome).toBe("ok");
  node.app.does(cut);
  expect((await node.call(projectId, "add_note", { args: note })).result.outcome).toBe("outcome_unknown");
  node.app.does(unreachable);
  expect((await node.call(projectId, "add_note", { args: note })).result.outcome).toBe("ok");
  expect(node.app.requests).toHaveLength(5);
});
