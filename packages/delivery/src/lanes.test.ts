import { createId } from "@svc/core";
import { createTestClock } from "@svc/testing/clock";
import { expect, test } from "vitest";
import { Lane, Lanes } from "./lanes.ts";
import type { OutgoingDelivery } from "./outgoing.ts";

const id = createId("sub", 0);
const projectId = createId("prj", 0);
const waiting = { body: Buffer.alloc(0) } as OutgoingDelivery;

test("a lane takes on its free turns and as much again, until it knows its endpoint's speed", () => {
  const lane = new Lane(id, projectId);
  expect(lane.room(16, 0)).toBe(32);
  lane.live.inFlight = 16;
  expect(lane.room(16, 0)).toBe(16);
  lane.live.waiting.push(...Array.from({ length: 16 }, () => waiting));
  expect(lane.room(16, 0)).toBe(0);
});

test.each([
  [1, 16 + 16 * 32],
  [100, 16 + 16 * 20],
  [2_000, 16 + 16],
  [4_000, 16 + 8],
  [60_000, 16],
])("an endpoint that answers in %i ms is given work for two seconds, or 32 rounds", (durationMs, room) => {
  const lane = new Lane(id, projectId);
  lane.observe(durationMs);
  expect(lane.room(16, 0)).toBe(room);
});

test("one slow answer does not change what is known of an endpoint much", () => {
  const lane = new Lane(id, projectId);
  for (let count = 0; count < 50; count++) lane.observe(100);
  lane.observe(200);
  expect(lane.room(16, 0)).toBeGreaterThan(16 + 16 * 17);
});

test("a lane that failed hands out what waits and takes nothing until its doubt is over, or it recovers", () => {
  const lane = new Lane(id, projectId);
  lane.live.waiting.push(waiting);
  expect(lane.fail(1_000)).toEqual([waiting]);
  expect(lane.live.waiting).toEqual([]);
  expect([lane.isShut(999), lane.room(16, 999)]).toEqual([true, 0]);
  expect([lane.isShut(1_000), lane.room(16, 1_000)]).toEqual([false, 32]);
  lane.recover();
  expect([lane.isShut(0), lane.room(16, 0)]).toEqual([false, 32]);
});

test("lanes nobody uses are forgotten, and those that failed with them once their doubt is over", () => {
  const clock = createTestClock(0);
  const lanes = new Lanes(clock, 16);
  const [idle, failed, busy] = [createId("sub", 1), createId("sub", 2), createId("sub", 3)];
  lanes.of(idle, projectId);
  lanes.of(failed, projectId).fail(100_000);
  lanes.of(busy, projectId).live.inFlight = 1;
  clock.advance(60_001);
  expect(lanes.claimRooms(new Set())).toEqual(new Map([[busy, 31]]));
  expect(lanes.find(failed)).toBeDefined();
  expect(lanes.find(idle)).toBeUndefined();
  clock.advance(40_000);
  lanes.claimRooms(new Set());
  expect(lanes.find(failed)).toBeUndefined();
  expect(lanes.find(busy)).toBeDefined();
});

test("a claim names only the lanes of which the node knows more than the store", () => {
  const lanes = new Lanes(createTestClock(0), 16);
  const [fresh, failed, reporting, probing, fast, full] = Array.from({ length: 6 }, (_, at) => createId("sub", at + 1));
  const fullProject = createId("prj", 1);
  lanes.of(fresh!, projectId);
  lanes.of(failed!, projectId).fail(100_000);
  const unreported = lanes.of(reporting!, projectId);
  unreported.fail(100_000);
  unreported.unreportedFailures = 1;
  const busy = lanes.of(probing!, projectId);
  busy.fail(100_000);
  busy.live.inFlight = 1;
  lanes.of(fast!, projectId).observe(1);
  lanes.of(full!, fullProject).live.inFlight = 3;
  expect(lanes.claimRooms(new Set([fullProject]))).toEqual(
    new Map([
      [reporting, 0],
      [probing, 0],
      [fast, 16 + 16 * 32],
    ]),
  );
});

test("a lane in which leases grew old takes no more than its free turns, until an attempt is quick", () => {
  const lane = new Lane(id, projectId);
  lane.live.wasLate = true;
  lane.live.inFlight = 16;
  expect(lane.room(16, 0)).toBe(0);
  lane.live.inFlight = 14;
  lane.observe(13_500);
  expect(lane.room(16, 0)).toBe(2);
  lane.observe(100);
  expect(lane.room(16, 0)).toBeGreaterThan(2);
});
