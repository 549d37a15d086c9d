import { firstUuidAt } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { until } from "@svc/testing/until";
import { afterAll, beforeEach, expect, test } from "vitest";
import { addProject, createTestNode, type TestNode } from "./call/test-node.ts";
import { type CallSweepOptions, callSweep } from "./retention.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(async () => {
  await db.sql`truncate tool_calls`;
  // Each test starts with an empty ledger at the same time.
  await db.sql`update ledger_state set settled_before = ${firstUuidAt(0)}`;
});

const day = 86_400_000;

/** Runs one whole round of the sweep at the node's current time. Returns the number of full batches. */
async function sweep({ clock }: TestNode, options: Partial<CallSweepOptions> = {}): Promise<number> {
  let full = 0;
  const round = callSweep({ db, callRetentionMs: 7 * day, ...options }).round(clock.now());
  for await (const isFull of round) if (isFull) full++;
  return full;
}

test("calls are deleted after their retention and not before, in batches until none is left", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  await Promise.all(Array.from({ length: 25 }, () => node.call(projectId, "read_ticket")));
  node.clock.advance(7 * day);
  await sweep(node);
  expect(await node.rows(projectId)).toHaveLength(25);
  node.clock.advance(1);
  await node.call(projectId, "read_ticket");
  expect(await sweep(node, { batchMax: 10 })).toBe(2);
  expect(await node.rows(projectId)).toHaveLength(1);
});

test("a retention shorter than the life of idempotency keys keeps calls for that long", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const call = () => node.call(projectId, "read_ticket", { idempotencyKey: "k" });
  await call();
  node.clock.advance(day - 1);
  await sweep(node, { callRetentionMs: 1 });
  expect((await call()).isReplay).toBe(true);
});

test("a call whose node is gone for ten minutes is ended: a write is in doubt and binds its key, a read frees it", async () => {
  const projectId = await addProject(db);
  const lost = createTestNode(db);
  lost.app.does(
    () => new Promise(() => {}),
    () => new Promise(() => {}),
  );
  void lost.call(projectId, "add_note", { args: { id: "t1", text: "x" }, idempotencyKey: "w" });
  void lost.call(projectId, "read_ticket", { idempotencyKey: "r" });
  await until(() => lost.app.requests.length === 2);
  const node = createTestNode(db);
  node.clock.advance(600_000);
  await sweep(node);
  expect((await node.rows(projectId)).map(({ outcome }) => outcome)).toEqual(["running", "running"]);
  node.clock.advance(1);
  await sweep(node);
  const ended = (await node.rows(projectId)).map(({ access_class, outcome, idempotency_key }) => [
    access_class,
    outcome,
    idempotency_key,
  ]);
  expect(ended.sort()).toEqual([
    ["read", "timeout", null],
    ["write", "outcome_unknown", "w"],
  ]);
  const repeat = await node.call(projectId, "add_note", { args: { id: "t1", text: "x" }, idempotencyKey: "w" });
  expect([repeat.isReplay, repeat.result.outcome, node.app.requests]).toEqual([true, "outcome_unknown", []]);
});
