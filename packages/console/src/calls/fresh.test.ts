import { expect, test } from "vitest";
import { freshRows, renewedRows } from "./fresh.ts";

const idOf = (id: string) => id;

test("what is newer than the first row that is shown is fresh", () => {
  expect(freshRows(["d", "c", "b"], ["b", "a"], idOf)).toEqual({ rows: ["d", "c"], gap: false });
  expect(freshRows(["b", "a"], ["b", "a"], idOf)).toEqual({ rows: [], gap: false });
});

test("a page that does not reach down to what is shown leaves a gap", () => {
  expect(freshRows(["f", "e"], ["b", "a"], idOf)).toEqual({ rows: ["f", "e"], gap: true });
});

test("of an empty list everything is fresh", () => {
  expect(freshRows(["b", "a"], [], idOf)).toEqual({ rows: ["b", "a"], gap: false });
  expect(freshRows([], ["a"], idOf)).toEqual({ rows: [], gap: false });
});

test("a row is shown as it was last read, and stays where it is", () => {
  const row = (id: string, state: string) => ({ id, state });
  const shown = [row("b", "pending"), row("a", "pending")];
  const page = [row("c", "pending"), row("b", "delivered")];
  expect(renewedRows(page, shown, ({ id }) => id)).toEqual([row("b", "delivered"), row("a", "pending")]);
});
