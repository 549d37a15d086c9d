import { createId, type ProjectId, systemClock } from "@svc/core";
import { expect, test } from "vitest";
import { KeptVectors } from "./query-vectors.ts";
import { QuestionRoom, type ReleaseSlot } from "./question-room.ts";
import { vectorOf } from "./vectors.ts";

const [a, b, c, d] = [1, 2, 3, 4].map((at) => createId("prj", at)) as [ProjectId, ProjectId, ProjectId, ProjectId];
/** A wait that is longer than any test. A caller that waits so long gets a slot, or the test fails. */
const longMs = 60_000;

/** Creates a room of slots in which the projects a and b hold all slots. */
async function fullRoom() {
  const room = new QuestionRoom(systemClock, { all: 4, project: 2 });
  const entered = await Promise.all([a, b, a, b].map((projectId) => room.enter(projectId, longMs)));
  const [leave, ...others] = entered as [ReleaseSlot, ReleaseSlot, ReleaseSlot, ReleaseSlot];
  return { room, leave, others };
}

test("a project with its full share gets no slot, and a slot released twice counts once", async () => {
  const { room, leave } = await fullRoom();
  expect(await room.enter(a, longMs)).toBeUndefined();
  leave();
  leave();
  expect(await room.enter(c, longMs)).toBeDefined();
  // All four slots are taken now.
  expect(await room.enter(d, 1)).toBeUndefined();
});

test("a question whose wait ends has no slot, and the next one gets the free slot", async () => {
  const { room, leave } = await fullRoom();
  expect(await room.enter(c, 1)).toBeUndefined();
  leave();
  expect(await room.enter(d, longMs)).toBeDefined();
});

test("a free slot goes to the project with the fewest running questions, then to the one served longest ago", async () => {
  const { room, leave, others } = await fullRoom();
  const order: string[] = [];
  const wait = async (name: string, projectId: ProjectId) => {
    const left = await room.enter(projectId, longMs);
    order.push(name);
    return left as ReleaseSlot;
  };
  const waiting = [wait("c first", c), wait("c second", c), wait("d", d)];
  leave();
  others[0]?.();
  await Promise.all([waiting[0], waiting[2]]);
  expect(order).toEqual(["c first", "d"]);
  // One question each of a, b, c and d is running, and only c waits.
  others[1]?.();
  await waiting[1];
  // No question of d is running any more, so d may wait again.
  (await waiting[2])?.();
  expect(await room.enter(d, longMs)).toBeDefined();
});

test("a flooding project replaces only its own vectors", () => {
  const kept = new KeptVectors(10);
  const vector = vectorOf(new Int8Array([1, 2]));
  for (const text of ["one", "two"]) kept.set(a, text, vector);
  for (let at = 0; at < 100; at++) kept.set(b, `flood ${at}`, vector);
  expect(["one", "two"].map((text) => kept.get(a, text))).toEqual([vector, vector]);
  expect(kept.get(b, "one")).toBeUndefined();
  const ofFlood = Array.from({ length: 100 }, (_, at) => kept.get(b, `flood ${at}`)).filter(Boolean);
  expect(ofFlood).toHaveLength(8);
  expect(kept.get(b, "flood 99")).toBeDefined();
});
