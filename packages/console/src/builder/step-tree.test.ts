import { expect, test } from "vitest";
import { callsOf } from "./step-tree.ts";

test("the users of a program's calls are found at any depth, but not in arguments", () => {
  const steps = [
    { id: "a", call: "x.y", entity: "ops", args: { call: "no", entity: "no" } },
    { id: "b", map: "a", do: [{ id: "c", call: "x.y", entity: "ada", undo: { call: "x.z", entity: "ada" } }] },
    { id: "d", parallel: { "o/ne": [{ id: "e", call: "x.y", entity: "ops" }] } },
  ];
  expect(callsOf(steps, "/steps").map(({ pointer, entity }) => `${pointer} ${entity}`)).toEqual([
    ...["/steps/0 ops", "/steps/1/do/0 ada", "/steps/1/do/0/undo ada", "/steps/2/parallel/o~1ne/0 ops"],
  ]);
});
