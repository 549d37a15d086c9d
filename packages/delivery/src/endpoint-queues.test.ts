import { createId } from "@svc/core";
import { createTestClock } from "@svc/testing/clock";
import { expect, test } from "vitest";
import { EndpointQueue, EndpointQueues } from "./endpoint-queues.ts";
import type { OutgoingDelivery } from "./outgoing.ts";

const id = createId("sub", 0);
const projectId = createId("prj", 0);
const waiting = { body: Buffer.alloc(0) } as OutgoingDelivery;

test("a queue takes on its free turns and as much again, until it knows its endpoint's speed", () => {
  const queue = new EndpointQueue(id, projectId);
  expect(queue.room(16, 0)).toBe(32);
  queue.live.inFlight = 16;
  expect(queue.room(16, 0)).toBe(16);
  queue.live.waiting.push(...Array.from({ length: 16 }, () => waiting));
  expect(queue.room(16, 0)).toBe(0);
});

test.each([
  [1, 16 + 16 * 32],
  [100, 16 + 16 * 20],
  [2_000, 16 + 16],
  [4_000, 16 + 8],
  [60_000, 16],
])("an endpoint that answers in %i ms is given work for two seconds, or 32 rounds", (durationMs, room) => {
  const queue = new EndpointQueue(id, projectId);
  queue.observe(durationMs);
  expect(queue.room(16, 0)).toBe(room);
});

test("one slow answer does not change what is known of an endpoint much", () => {
  const queue = new EndpointQueue(id, projectId);
  for (let count = 0; count < 50; count++) queue.observe(100);
  queue.observe(200);
  expect(queue.room(16, 0)).toBeGreaterThan(16 + 16 * 17);
});

test("a queue that failed hands out what waits and takes nothing until its doubt is over, or it recovers", () => {
  const queue = new EndpointQueue(id, projectId);
  queue.live.waiting.push(waiting);
  expect(queue.fail(1_000)).toEqual([waiting]);
  expect(queue.live.waiting).toEqual([]);
  expect([queue.isShut(999), queue.room(16, 999)]).toEqual([true, 0]);
  expect([queue.isShut(1_000), queue.room(16, 1_000)]).toEqual([false, 32]);
  queue.recover();
  expect([queue.isShut(0), queue.room(16, 0)]).toEqual([false, 32]);
});

test("queues nobody uses are forgotten, and those that failed with them once their doubt is over", () => {
  const clock = createTestClock(0);
  const queues = new EndpointQueues(clock, 16);
  const [idle, failed, busy] = [createId("sub", 1), createId("sub", 2), createId("sub", 3)];
  queues.of(idle, projectId);
  queues.of(failed, projectId).fail(100_000);
  queues.of(busy, projectId).live.inFlight = 1;
  clock.advance(60_001);
  expect(queues.claimRooms(new Set())).toEqual(new Map([[busy, 31]]));
  expect(queues.find(failed)).toBeDefined();
  expect(queues.find(idle)).toBeUndefined();
  clock.advance(40_000);
  queues.claimRooms(new Set());
  expect(queues.find(failed)).toBeUndefined();
  expect(queues.find(busy)).toBeDefined();
});

test("a claim names only the queues of which the node knows more than the store", () => {
  const queues = new EndpointQueues(createTestClock(0), 16);
  const [fresh, failed, reporting, probing, fast, full] = Array.from({ length: 6 }, (_, at) => createId("sub", at + 1));
  const fullProject = createId("prj", 1);
  queues.of(fresh!, projectId);
  queues.of(failed!, projectId).fail(100_000);
  const unreported = queues.of(reporting!, projectId);
  unreported.fail(100_000);
  unreported.unreportedFailures = 1;
  const busy = queues.of(probing!, projectId);
  busy.fail(100_000);
  busy.live.inFlight = 1;
  queues.of(fast!, projectId).observe(1);
  queues.of(full!, fullProject).live.inFlight = 3;
  expect(queues.claimRooms(new Set([fullProject]))).toEqual(
    new Map([
      [reporting, 0],
      [probing, 0],
      [fast, 16 + 16 * 32],
    ]),
  );
});

test("a queue in which leases grew old takes no more than its free turns, until an attempt is quick", () => {
  const queue = new EndpointQueue(id, projectId);
  queue.live.wasLate = true;
  queue.live.inFlight = 16;
  expect(queue.room(16, 0)).toBe(0);
  queue.live.inFlight = 14;
  queue.observe(13_500);
  expect(queue.room(16, 0)).toBe(2);
  queue.observe(100);
  expect(queue.room(16, 0)).toBeGreaterThan(2);
});
