import { expect, test } from "vitest";
import { Lines } from "./lines.ts";

function takeAll(lines: Lines<string>): string[] {
  const taken: string[] = [];
  for (let next = lines.next(); next !== undefined; next = lines.next()) taken.push(next);
  return taken;
}

test("lines take turns, and each keeps its order", () => {
  const lines = new Lines<string>();
  for (const waiter of ["a1", "a2", "a3", "b1", "b2", "c1"]) lines.add(waiter.charAt(0), waiter);
  expect(takeAll(lines)).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  expect(lines.isEmpty).toBe(true);
});

test("who comes now and then goes before a long line", () => {
  const lines = new Lines<string>();
  for (let n = 0; n < 100; n++) lines.add("many", `many${n}`);
  expect(lines.next()).toBe("many0");
  lines.add("one", "one0");
  expect(lines.next()).toBe("one0");
});

test("leaving and returning does not move a queue to the front", () => {
  const lines = new Lines<string>();
  for (let n = 0; n < 3; n++) lines.add("patient", `patient${n}`);
  const taken: (string | undefined)[] = [];
  for (let n = 0; n < 6; n++) {
    lines.add("pushing", `pushing${n}`);
    taken.push(lines.next());
  }
  expect(taken.filter((waiter) => waiter?.startsWith("patient"))).toHaveLength(3);
});
