import { expect, test } from "vitest";
import { freshRows, renewedRows, tokensInView } from "./live-rows.ts";

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

test("what is in view is read again by the tokens of its pages, and what the newest page has by none", () => {
  // Ten new rows came to the list between the two reads. So the second read of the first page has them before the old rows.
  const pages = [
    { token: "", count: 210 },
    { token: "second", count: 200 },
    { token: "third", count: 50 },
  ];
  const inView = (first: number, last: number) =>
    tokensInView(pages, { covers: 200, nextToken: "after-newest" }, { first, last });
  expect(inView(0, 30)).toEqual([]);
  expect(inView(180, 204)).toEqual(["after-newest"]);
  expect(inView(195, 215)).toEqual(["after-newest", "second"]);
  expect(inView(300, 330)).toEqual(["second"]);
  expect(inView(400, 459)).toEqual(["second", "third"]);
  expect(tokensInView([{ token: "", count: 5 }], { covers: 5, nextToken: "" }, { first: 0, last: 4 })).toEqual([]);
});
