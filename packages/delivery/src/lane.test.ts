import { createId } from "@svc/core";
import { createTestClock } from "@svc/core/testing";
import { expect, test } from "vitest";
import { Lane } from "./lane.ts";
import { Lanes } from "./lanes.ts";
import type { OutgoingDelivery } from "./outgoing.ts";

const id = createId("sub", 0);
const waiting = { body: Buffer.alloc(0) } as OutgoingDelivery;

test("a lane takes on its free turns and as much again, until it knows its endpoint's speed", () => {
  const lane = new Lane(id);
  expect(lane.room(16, 0)).toBe(32);
  lane.inFlight = 16;
  expect(lane.room(16, 0)).toBe(16);
  lane.waiting.push(...Array.from({ length: 16 }, () => waiting));
  expect(lane.room(16, 0)).toBe(0);
});

test.each([
  [1, 16 + 16 * 32],
  [100, 16 + 16 * 20],
  [2_000, 16 + 16],
  [4_000, 16 + 8],
  [60_000, 16],
])("an endpoint that answers in %i ms is given work for two seconds, or 32 rounds", (durationMs, room) => {
  const lane = new Lane(id);
  lane.observe(durationMs);
  expect(lane.room(16, 0)).toBe(room);
});

test("one slow answer does not change what is known of an endpoint much", () => {
  const lane = new Lane(id);
  for (let count = 0; count < 50; count++) lane.observe(100);
  lane.observe(200);
  expect(lane.room(16, 0)).toBeGreaterThan(16 + 16 * 17);
});

test("a lane that failed hands out what waits and takes nothing until its doubt is over, or it recovers", () => {
  const lane = new Lane(id);
  lane.waiting.push(waiting);
  expect(lane.fail(1_000)).toEqual([waiting]);
  expect(lane.waiting).toEqual([]);
  expect([lane.isShut(999), lane.room(16, 999)]).toEqual([true, 0]);
  expect([lane.isShut(1_000), lane.room(16, 1_000)]).toEqual([false, 32]);
  lane.recover();
  expect([lane.isShut(0), lane.room(16, 0)]).toEqual([false, 32]);
});

test("lanes nobody uses are forgotten, and those that failed with them once their doubt is over", () => {
  const clock = createTestClock(0);
  const lanes = new Lanes(clock, 16);
  const [idle, failed, busy] = [createId("sub", 1), createId("sub", 2), createId("sub", 3)];
  lanes.of(idle);
  lanes.of(failed).fail(100_000);
  lanes.of(busy).inFlight = 1;
  clock.advance(60_001);
  expect(lanes.claimRooms()).toEqual(
    new Map([
      [failed, 1],
      [busy, 31],
    ]),
  );
  expect(lanes.find(idle)).toBeUndefined();
  clock.advance(40_000);
  lanes.claimRooms();
  expect(lanes.find(failed)).toBeUndefined();
  expect(lanes.find(busy)).toBeDefined();
});
