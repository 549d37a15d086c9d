import { expect, test } from "vitest";
import { fitColumns } from "./fit-columns.ts";

const cell = () => null;
const columns = [
  { id: "event", title: "Event", width: "minmax(200px, 2fr)", cell },
  { id: "tries", title: "Tries", width: "100px", drop: 2, cell },
  { id: "next", title: "Next", width: "100px", drop: 1, cell },
  { id: "state", title: "State", width: "120px", cell },
];
const shown = (width: number | undefined) => fitColumns(columns, width).map(({ id }) => id);

test("a grid leaves columns out in their order, and never those without a place in it", () => {
  expect(shown(undefined)).toEqual(["event", "tries", "next", "state"]);
  expect(shown(608)).toEqual(["event", "tries", "next", "state"]);
  expect(shown(607)).toEqual(["event", "tries", "state"]);
  expect(shown(491)).toEqual(["event", "state"]);
  expect(shown(100)).toEqual(["event", "state"]);
});
