import { createId, type ProjectId, systemClock } from "@svc/core";
import { expect, test } from "vitest";
import { KeptVectors } from "./query-vectors.ts";
import { QuestionRoom, type ReleaseSlot } from "./question-room.ts";
import { vectorOf } from "./vectors.ts";

const [a, b, c, d] = [1, 2, 3, 4].map((at) => createId("prj", at)) as [ProjectId, ProjectId, ProjectId, ProjectId];
/** Longer than any test: who waits so long is let in, or the test fails. */
const longMs = 60_000;

/** Room in which a and b hold all places. */
async function fullRoom() {
  const room = new QuestionRoom(systemClock, { all: 4, project: 2 });
  const entered = await Promise.all([a, b, a, b].map((projectId) => room.enter(projectId, longMs)));
  const [leave, ...others] = entered as [ReleaseSlot, ReleaseSlot, ReleaseSlot, ReleaseSlot];
  return { room, leave, others };
}

test("a project with its share is let in at no time, and a place that it gives back twice counts once", async () => {
  const { room, leave } = await fullRoom();
  expect(await room.enter(a, longMs)).toBeUndefined();
  leave();
  leave();
  expect(await room.enter(c, longMs)).toBeDefined();
  // Four are taken again.
  expect(await room.enter(d, 1)).toBeUndefined();
});

test("who waits in vain has no place, and the next one finds what came free", async () => {
  const { room, leave } = await fullRoom();
  expect(await room.enter(c, 1)).toBeUndefined();
  leave();
  expect(await room.enter(d, longMs)).toBeDefined();
});

test("the place that comes free goes to who has fewest under way, and then to whose turn was longest ago", async () => {
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
  // One of a and one of b are under way, one of c and one of d: c alone waits.
  others[1]?.();
  await waiting[1];
  // None of d's own is counted for long: it may wait again.
  (await waiting[2])?.();
  expect(await room.enter(d, longMs)).toBeDefined();
});

test("a project that floods takes the places of its own vectors, and has none of another's", () => {
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
