import type { Toolkit } from "@svc/catalog";
import { createId, type ProjectId } from "@svc/core";
import { catalogOf } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { expect, test } from "vitest";
import { slowDown, ToolkitLines } from "./toolkit-lines.ts";

const [a, b] = [createId("prj", 1), createId("prj", 2)];
const [sample] = catalogOf({ toolkits: Object.values(sampleToolkits) }).toolkits.values() as unknown as [Toolkit];
const toolkitOf = (ownerProjectId: ProjectId | "", slug: string): Toolkit => ({ ...sample, ownerProjectId, slug });

function setUp(countMax: number, toolkits: readonly Toolkit[]) {
  const lines = new ToolkitLines(countMax);
  for (const toolkit of toolkits) lines.add(toolkit);
  return {
    lines,
    slugs: (turns: number, nowMs = 0) => Array.from({ length: turns }, () => lines.next(nowMs)?.toolkit.slug),
  };
}

test("owners take turns, and so do the toolkits of each", () => {
  const { lines, slugs } = setUp(
    10,
    ["a1", "a2", "a3"].map((slug) => toolkitOf(a, slug)).concat(toolkitOf(b, "b1"), toolkitOf("", "shared")),
  );
  expect(slugs(7)).toEqual(["a1", "b1", "shared", "a2", "b1", "shared", "a3"]);
  const known = toolkitOf(b, "b2");
  expect([lines.add(known), lines.add(known)]).toEqual([true, false]);
});

test("a failed owner waits longer each time while others continue; a finished one no longer waits", () => {
  const [first, other] = [toolkitOf(a, "a1"), toolkitOf(b, "b1")];
  const { lines, slugs } = setUp(10, [first, other]);
  const pauses = [0, 5_000, 15_000].map((nowMs) => {
    const turn = lines.next(nowMs);
    expect(turn?.toolkit.slug).toBe("a1");
    if (turn !== undefined) slowDown(turn.pace, nowMs);
    expect(slugs(2, nowMs)).toEqual(["b1", "b1"]);
    return (turn?.pace.notBeforeMs ?? 0) - nowMs;
  });
  expect(pauses).toEqual([5_000, 10_000, 20_000]);
  lines.remove(other);
  expect([lines.next(34_999), lines.nextAtMs(), lines.next(35_000)?.toolkit.slug]).toEqual([undefined, 35_000, "a1"]);
  lines.remove(first);
  expect(lines.nextAtMs()).toBeUndefined();
});

test("an excess toolkit replaces one of the longest line", () => {
  const flood = Array.from({ length: 50 }, (_, at) => toolkitOf(b, `b${at}`));
  const { slugs } = setUp(4, [toolkitOf(a, "a1"), ...flood]);
  expect(slugs(6)).toEqual(["a1", "b47", "a1", "b48", "a1", "b49"]);
});
