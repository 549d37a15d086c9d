import { expect, test } from "vitest";
import { gridAct } from "./grid-keys.ts";

test("arrows, j and k go a row, and stop at either end", () => {
  expect(gridAct("ArrowDown", 0, 3, true)).toEqual({ act: "move", to: 1 });
  expect(gridAct("j", 2, 3, true)).toEqual({ act: "move", to: 2 });
  expect(gridAct("k", 0, 3, true)).toEqual({ act: "move", to: 0 });
  expect(gridAct("End", 0, 100_000, true)).toEqual({ act: "move", to: 99_999 });
});

test("with letters turned off, a letter does nothing and the other keys still do", () => {
  for (const letter of ["j", "k", "o", "c", "x"]) expect(gridAct(letter, 1, 3, false)).toBeUndefined();
  expect(gridAct("Enter", 1, 3, false)).toEqual({ act: "open" });
  expect(gridAct("ArrowUp", 1, 3, false)).toEqual({ act: "move", to: 0 });
});
