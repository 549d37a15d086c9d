import { createTestDatabase } from "@svc/db/testing";
import { afterAll, beforeEach, expect, test } from "vitest";
import { startCallRetention, sweepCallsRound } from "./retention.ts";
import { addProject, createTestNode } from "./test-node.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(() => db.sql`truncate tool_calls`);

const day = 86_400_000;
const forever = new AbortController().signal;
const options = (node: ReturnType<typeof createTestNode>) => ({
  db,
  clock: node.clock,
  callRetentionMs: 7 * day,
  onError: () => expect.unreachable(),
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(holds, { timeout: 15_000, interval: 5 }).toBe(true);
}

test("calls go once they are past their time, and not before; in batches until none is left", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  await Promise.all(Array.from({ length: 25 }, () => node.call(projectId, "read_ticket")));
  node.clock.advance(7 * day);
  await sweepCallsRound(options(node), forever);
  expect(await node.rows(projectId)).toHaveLength(25);
  node.clock.advance(1);
  await node.call(projectId, "read_ticket");
  const round = sweepCallsRound({ ...options(node), batchMax: 10 }, forever);
  let isOver = false;
  void round.then(() => {
    isOver = true;
  });
  await until(() => {
    node.clock.advance(50);
    return isOver;
  });
  expect(await node.rows(projectId)).toHaveLength(1);
});

test("a retention shorter than the life of idempotency keys keeps calls for that long", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  const call = () => node.call(projectId, "read_ticket", { idempotencyKey: "k" });
  await call();
  node.clock.advance(day - 1);
  await sweepCallsRound({ ...options(node), callRetentionMs: 1 }, forever);
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
  await sweepCallsRound(options(node), forever);
  expect((await node.rows(projectId)).map(({ outcome }) => outcome)).toEqual(["running", "running"]);
  node.clock.advance(1);
  await sweepCallsRound(options(node), forever);
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

test("retention goes on after a fault, and stops when told", async () => {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  await node.call(projectId, "read_ticket");
  const errors: unknown[] = [];
  await db.sql`alter table tool_calls rename to tool_calls_away`;
  const retention = startCallRetention({ ...options(node), onError: (error) => errors.push(error) });
  await until(() => errors.length === 1 && node.clock.waiting() === 1);
  await db.sql`alter table tool_calls_away rename to tool_calls`;
  node.clock.advance(8 * day);
  await until(async () => (await node.rows(projectId)).length === 0);
  await retention.stop();
  expect([errors.length, node.clock.waiting()]).toEqual([1, 0]);
});
