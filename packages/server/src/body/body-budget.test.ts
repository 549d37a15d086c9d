import { createTestClock } from "@svc/testing/clock";
import { beforeEach, expect, test } from "vitest";
import { type BodyBudget, type BodyShare, createBodyBudget } from "./body-budget.ts";

const clock = createTestClock();
let budget: BodyBudget;
const gone: string[] = [];
beforeEach(() => {
  gone.length = 0;
  budget = createBodyBudget({ clock, bytesMax: 1_000, shareBytesMax: 600, keylessBytesMax: 64 });
});

/** Returns a body of which `bytes` bytes have arrived, and more may follow. */
function hold(name: string, bytes: number, share: BodyShare, address = "192.0.2.1") {
  const charge = budget.open(share, address);
  const isTaken = charge.take(bytes);
  charge.arrive(() => {
    gone.push(name);
    charge.refuse();
  });
  return { charge, isTaken };
}

test("a single sender may use a whole share, and no more", () => {
  expect(hold("a", 600, "toolkit:one").isTaken).toBe(true);
  expect(budget.open("toolkit:one", "192.0.2.1").take(1)).toBe(false);
  expect(budget.stats().bytes).toBe(600);
  expect(gone).toEqual([]);
});

test("when the node is full, the largest share gives way, its oldest incomplete body first", () => {
  hold("a", 300, "toolkit:one");
  hold("b", 300, "toolkit:one");
  hold("c", 400, "project:two");
  expect(hold("d", 100, "toolkit:three").isTaken).toBe(true);
  expect(gone).toEqual(["a"]);
  expect(budget.stats()).toMatchObject({ bytes: 800, refused: { toolkit: 1, project: 0 } });
});

test("when a share is full, its largest address gives way to the others", () => {
  hold("a", 300, "toolkit:one", "192.0.2.1");
  hold("b", 250, "toolkit:one", "192.0.2.1");
  hold("c", 50, "toolkit:one", "192.0.2.2");
  expect(hold("d", 100, "toolkit:one", "192.0.2.3").isTaken).toBe(true);
  expect(gone).toEqual(["a"]);
});

test("a complete body does not give way", () => {
  const { charge } = hold("a", 600, "toolkit:one", "192.0.2.1");
  charge.complete();
  expect(hold("b", 100, "toolkit:one", "192.0.2.2").isTaken).toBe(false);
  charge.release();
  expect(hold("c", 100, "toolkit:one", "192.0.2.2").isTaken).toBe(true);
  expect(gone).toEqual([]);
});

test("an address without a key has a small share, and its slow bodies give way to new ones", () => {
  hold("a", 40, "keyless", "192.0.2.1");
  expect(hold("b", 40, "keyless", "192.0.2.1").isTaken).toBe(false);
  expect(hold("c", 40, "keyless", "192.0.2.2").isTaken).toBe(true);
  clock.advance(2_000);
  expect(hold("d", 40, "keyless", "192.0.2.1").isTaken).toBe(true);
  expect(gone).toEqual(["a"]);
});

test("a slow body that itself asks for more is given up, and nothing stays charged", () => {
  const { charge } = hold("a", 600, "toolkit:one");
  clock.advance(2_000);
  expect(charge.take(100)).toBe(false);
  expect(gone).toEqual(["a"]);
  expect(charge.take(1)).toBe(false);
  expect(budget.stats().bytes).toBe(0);
});

test("a charge released twice counts once", () => {
  const { charge } = hold("a", 100, "administrator");
  hold("b", 50, "administrator");
  charge.release();
  charge.release();
  expect(budget.stats().bytes).toBe(50);
});
