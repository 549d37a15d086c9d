import type { Action } from "@svc/catalog";
import { expect, test } from "vitest";
import { type ScoredTool, spreadOverToolkits } from "./score-tools.ts";

/** Returns the tools `a1`, `a2` and `b1` of the toolkits `a` and `b`, with the given scores. */
function scored(scores: Record<string, number>): ScoredTool[] {
  return Object.entries(scores).map(([slug, score]) => {
    return { tool: { slug, toolkitSlug: slug[0] } as Action, score, place: 0 } as unknown as ScoredTool;
  });
}

function order(scores: Record<string, number>, limit = 10): string {
  return spreadOverToolkits(scored(scores), limit)
    .map(({ tool }) => tool.slug)
    .join(" ");
}

test("one toolkit does not fill the list while another fits about as well", () => {
  expect(order({ a1: 100, a2: 99.5, a3: 99, a4: 98.9, b1: 98.5, c1: 98 })).toBe("a1 b1 c1 a2 a3 a4");
});

test("a tool that fits clearly better stays ahead of other toolkits' tools", () => {
  const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`a${index + 1}`, 100]));
  expect(
    order({ ...many, b1: 85 })
      .split(" ")
      .at(-1),
  ).toBe("b1");
});

test("scores fall along the list, and the limit is kept", () => {
  const found = spreadOverToolkits(scored({ a1: 10, a2: 9.9, b1: 9.8, b2: 9.7, a3: 1 }), 4);
  expect(found).toHaveLength(4);
  expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a));
});

test("equal scores are ordered by slug", () => {
  expect(order({ b1: 5, a2: 5, c1: 5, a1: 5 })).toBe("a1 b1 c1 a2");
});
