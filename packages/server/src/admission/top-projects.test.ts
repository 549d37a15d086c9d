import { createId, type ProjectId } from "@svc/core";
import { expect, test } from "vitest";
import { type Figures, TopProjects } from "./top-projects.ts";

const ids = Array.from({ length: 100 }, (_, n) => createId("prj", n));

function figuresOf(use: (n: number) => number): [ProjectId, Figures][] {
  return ids.map((id, n) => [id, [use(n), 1]]);
}

test("for any number of projects, twenty are named and the rest is one", () => {
  const top = new TopProjects();
  const named = top.look(figuresOf((n) => n));
  expect(named.size).toBe(21);
  expect(named.get(ids[99] ?? "")).toEqual([99, 1]);
  expect(named.get("other")).toEqual([(79 * 80) / 2, 80]);
});

test("each count returns the activity since the last one, and nothing is lost when a project is replaced", () => {
  const top = new TopProjects();
  let sum = 0;
  for (const use of [(n: number) => n, (n: number) => n + (n === 0 ? 1_000 : 1), (n: number) => n + 1_000 + 2 * n]) {
    for (const [amount = 0] of top.look(figuresOf(use)).values()) sum += amount;
  }
  expect(sum).toBe(figuresOf((n) => n + 1_000 + 2 * n).reduce((all, [, [use]]) => all + use, 0));
});

test("a project keeps its place against one that does about as much", () => {
  const top = new TopProjects();
  top.look(figuresOf((n) => (n < 20 ? 100 : 0)));
  const before = top.named;
  top.look(figuresOf((n) => (n < 20 ? 200 : 120)));
  expect(top.named).toEqual(before);
  top.look(figuresOf((n) => (n < 20 ? 200 : 5_000)));
  expect(top.named).not.toEqual(before);
});
