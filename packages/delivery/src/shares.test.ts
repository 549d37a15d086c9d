import { createId } from "@svc/core";
import { expect, test } from "vitest";
import { EndpointQueue } from "./endpoint-queues.ts";
import type { OutgoingDelivery } from "./outgoing.ts";
import { Shares } from "./shares.ts";

const [one, two] = [createId("prj", 1), createId("prj", 2)];
const bounds = { inFlightMax: 100, heldMax: 20, heldBytesMax: 1_000 };
const delivery = (projectId = one, bytes = 1) => ({ projectId, body: Buffer.alloc(bytes) }) as OutgoingDelivery;

test("a lone project holds half of what the node may hold, two a third each, and a newcomer has room", () => {
  const shares = new Shares(bounds);
  expect(shares.room(one)).toBe(10);
  for (let count = 0; count < 10; count++) shares.take(delivery());
  expect([shares.room(one), shares.room(two)]).toEqual([0, 6]);
  expect(shares.fullProjects()).toEqual(new Set([one]));
  shares.take(delivery(two));
  expect(shares.room(two)).toBe(5);
});

test("the bytes a project holds have a share as well", () => {
  const shares = new Shares(bounds);
  shares.take(delivery(one, 500));
  expect([shares.room(one), shares.room(two)]).toEqual([0, 6]);
});

test("what is only being recorded does not make a project active, but is held", () => {
  const shares = new Shares(bounds);
  shares.take(delivery());
  shares.finish(one);
  expect([shares.room(one), shares.room(two)]).toEqual([9, 10]);
  shares.letGo(delivery());
  expect(shares.room(one)).toBe(10);
});

test("turns go round the projects first, and then round the queues of each", () => {
  const shares = new Shares(bounds);
  const queues = [one, one, two].map((projectId, at) => {
    const queue = new EndpointQueue(createId("sub", at), projectId);
    queue.live.waiting.push(delivery(projectId));
    shares.take(delivery(projectId));
    shares.starve(queue);
    return queue;
  });
  const served = Array.from({ length: 5 }, () => {
    const queue = shares.nextStarved();
    if (queue !== undefined && queues[2] !== queue) shares.starve(queue);
    return queue === undefined ? -1 : queues.indexOf(queue);
  });
  expect(served).toEqual([0, 2, 1, 0, 1]);
});
