import { createId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, createTestNode } from "./test-node.ts";
import { answer } from "./test-transport.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const note = { id: "t1", text: "hello" };

/** Starts a call on a node that dies before it records the end of the call. */
async function loseNode(tool: string, args: object) {
  const projectId = await addProject(db);
  const lost = createTestNode(db);
  const sent = Promise.withResolvers<void>();
  lost.app.does(() => {
    sent.resolve();
    return new Promise(() => {});
  });
  void lost.call(projectId, tool, { args: { ...args }, idempotencyKey: "k" });
  await sent.promise;
  return { projectId, lost };
}

test("a write whose node is gone is in doubt: a keyed repeat says so once two minutes have passed, and sends nothing", async () => {
  const { projectId } = await loseNode("add_note", note);
  const node = createTestNode(db);
  const call = () => node.call(projectId, "add_note", { args: note, idempotencyKey: "k" });
  await expect(call()).rejects.toThrow("still runs");
  node.clock.advance(120_001);
  const first = await call();
  expect([first.isReplay, first.result.outcome]).toEqual([true, "outcome_unknown"]);
  expect((await call()).callId).toBe(first.callId);
  expect(node.app.requests).toEqual([]);
  expect(await node.rows(projectId)).toMatchObject([{ outcome: "outcome_unknown", idempotency_key: "k" }]);
});

test("a read whose node is gone is executed again", async () => {
  const { projectId } = await loseNode("read_ticket", { id: "t1" });
  const node = createTestNode(db);
  node.clock.advance(120_001);
  const { isReplay, result } = await node.call(projectId, "read_ticket", { idempotencyKey: "k" });
  expect([isReplay, result.outcome, node.app.requests.length]).toEqual([false, "ok", 1]);
  const rows = await node.rows(projectId);
  expect(rows.map(({ outcome, idempotency_key }) => [outcome, idempotency_key])).toEqual([
    ["timeout", null],
    ["ok", "k"],
  ]);
});

test("the late outcome of a call that counted as lost does not take its key back", async () => {
  const projectId = await addProject(db);
  const slow = createTestNode(db);
  const [sent, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  slow.app.does(async () => {
    sent.resolve();
    await release.promise;
    return answer(200, { id: "late" });
  });
  const late = slow.call(projectId, "read_ticket", { idempotencyKey: "k" });
  await sent.promise;
  const node = createTestNode(db);
  node.clock.advance(120_001);
  const second = await node.call(projectId, "read_ticket", { idempotencyKey: "k" });
  release.resolve();
  expect((await late).result).toMatchObject({ outcome: "ok", warnings: [] });
  expect((await node.call(projectId, "read_ticket", { idempotencyKey: "k" })).callId).toBe(second.callId);
});

test("an unkeyed write has its row before it is sent, an unkeyed read after", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const seen: unknown[] = [];
  const look = async () => {
    seen.push((await node.rows(projectId)).map(({ outcome }) => outcome).sort());
    return answer(200, { id: "t1" });
  };
  node.app.does(look, look);
  await node.call(projectId, "read_ticket");
  await node.call(projectId, "add_note", { args: note });
  expect(seen).toEqual([[], ["ok", "running"]]);
});

test("if the database becomes unavailable after sending, the record is lost and the answer is not", async () => {
  const own = await createTestDatabase();
  try {
    const node = createTestNode(own.db);
    const projectId = await addProject(own.db);
    for (const [tool, key] of [["read_ticket"], ["add_note"], ["add_note", "k"]] as const) {
      node.app.does(async () => {
        await own.db.sql`alter table tool_calls rename to tool_calls_away`;
        return answer(200, { id: "t1" });
      });
      const args = tool === "add_note" ? note : { id: "t1" };
      const { callId, result } = await node.call(projectId, tool, { args, idempotencyKey: key });
      await own.db.sql`alter table tool_calls_away rename to tool_calls`;
      expect(result).toMatchObject({
        outcome: "ok",
        value: { id: "t1" },
        warnings: [expect.stringMatching(/^unrecorded: /)],
      });
      expect(node.unrecorded.at(-1)).toBe(callId);
    }
    expect((await node.rows(projectId)).map(({ outcome }) => outcome)).toEqual(["running", "running"]);
  } finally {
    await own.drop();
  }
});

test("if the database is unavailable before sending, nothing is sent", async () => {
  const own = await createTestDatabase();
  try {
    const node = createTestNode(own.db);
    const projectId = await addProject(own.db);
    await node.views.forProject(projectId);
    await own.db.sql`alter table tool_calls rename to tool_calls_away`;
    await expect(node.call(projectId, "add_note", { args: note })).rejects.toThrow();
    await expect(node.call(projectId, "read_ticket", { idempotencyKey: "k" })).rejects.toThrow();
    expect(node.app.requests).toEqual([]);
  } finally {
    await own.drop();
  }
});

test("a credential that cannot be read ends the call and frees its key", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  node.accounts.onAuthorize = () => {
    throw new Error("the store is away");
  };
  const call = () => node.call(projectId, "add_note", { args: note, idempotencyKey: "k" });
  await expect(call()).rejects.toThrow("the store is away");
  expect(await node.rows(projectId)).toMatchObject([{ outcome: "unreachable", idempotency_key: null }]);
  node.accounts.onAuthorize = () => {};
  expect((await call()).result.outcome).toBe("ok");
  expect(node.app.requests).toHaveLength(1);
});

test("a renewal that fails after a 401 costs the second try, not the answer", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  node.accounts.refused = () => Promise.reject(new Error("the store is away"));
  node.app.does(answer(401));
  expect((await node.call(projectId, "read_ticket")).result).toMatchObject({
    outcome: "account_unusable",
    providerStatus: 401,
  });
});

test("a job's call names its job and step", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const job = { id: createId("job", 1), stepId: "step-1" };
  await node.call(projectId, "read_ticket", { caller: { projectId, keyId: undefined, job } });
  expect(await node.rows(projectId)).toMatchObject([{ job_id: uuidOfId(job.id), step_id: "step-1", key_id: null }]);
});
