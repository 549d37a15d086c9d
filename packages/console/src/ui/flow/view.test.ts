import { expect, test } from "vitest";
import { edgeLine, firstView, fitView, neighbourOf, showRect, zoomView } from "./view.ts";

const win = { width: 800, height: 400 };

test("a small graph opens in the middle in its size, a large one is made smaller, and a very large one shows its beginning", () => {
  expect(firstView({ width: 400, height: 200 }, win)).toEqual({ scale: 1, x: 200, y: 100 });
  expect(firstView({ width: 1_000, height: 400 }, win)).toEqual({ scale: 0.8, x: 0, y: 40 });
  expect(firstView({ width: 8_000, height: 400 }, win)).toMatchObject({ scale: 0.62, x: 0 });
  expect(fitView({ width: 2_000, height: 400 }, win)).toMatchObject({ scale: 0.4, x: 0 });
});

test("a zoom keeps the part of the graph under its place, and stops at 40 % and at twice the size", () => {
  const at = { x: 100, y: 50 };
  const view = zoomView({ x: 20, y: 10, scale: 1 }, 1.5, at);
  expect([(at.x - view.x) / view.scale, (at.y - view.y) / view.scale]).toEqual([80, 40]);
  expect(zoomView(view, 100, at).scale).toBe(2);
  expect(zoomView(view, 0.001, at).scale).toBe(0.4);
});

test("a node beyond an edge is brought into view, and one in view moves nothing", () => {
  const view = { x: 0, y: 0, scale: 1 };
  expect(showRect(view, { x: 100, y: 100, width: 200, height: 60 }, win)).toEqual(view);
  expect(showRect(view, { x: 900, y: -100, width: 200, height: 60 }, win)).toEqual({ scale: 1, x: -324, y: 124 });
});

const rect = (x: number, y: number) => ({ x, y, width: 196, height: 68 });
const nodes = new Map([
  ["a", rect(0, 100)],
  ["b", rect(300, 0)],
  ["c", rect(300, 110)],
  ["d", rect(600, 100)],
]);

test("arrow keys move to the nearest node in their direction", () => {
  const next = (from: string, x: number, y: number) => neighbourOf(from, { x, y }, nodes);
  expect([next("c", 1, 0), next("c", 0, -1), next("c", 0, 1), next("c", -1, 0)]).toEqual(["d", "b", undefined, "a"]);
  expect(next("a", 1, 0)).toBe("c");
});

test("a line goes from side to side through its points, and from top to bottom in a column", () => {
  expect(edgeLine(rect(0, 0), rect(300, 100), []).path).toBe("M196 34C248 34 248 134 300 134");
  expect(edgeLine(rect(0, 0), rect(600, 0), [{ x: 396, y: 200 }]).path).toBe(
    "M196 34C296 34 296 200 396 200C498 200 498 34 600 34",
  );
  expect(edgeLine(rect(0, 200), rect(0, 0), []).path).toBe("M98 68C98 134 98 134 98 200");
  expect(edgeLine(rect(0, 0), rect(600, 100), [{ x: 300, y: 234 }]).at).toEqual({ x: 248, y: 134 });
});
