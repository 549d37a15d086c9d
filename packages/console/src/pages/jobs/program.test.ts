import { expect, test } from "vitest";
import { allSteps, programPart, readProgram, undoneOn } from "./program.ts";

const examples = import.meta.glob<string>("../../../../../docs/examples/*.json", {
  query: "?raw",
  import: "default",
  eager: true,
});

test("every step of every example has an id and a kind, however deep it stands", () => {
  expect(Object.keys(examples).length).toBeGreaterThan(10);
  for (const [name, text] of Object.entries(examples)) {
    const steps = allSteps(readProgram(text));
    expect(steps.length, name).toBeGreaterThan(0);
    for (const { id, kind } of steps) {
      expect(id, name).not.toBe("");
      expect(kind, `${name} ${id}`).not.toBe("step");
    }
  }
});

test("branches, rounds and handlers are blocks by their names, and the calls of a map are no steps", () => {
  const steps = readProgram(
    JSON.stringify({
      steps: [
        {
          id: "p",
          parallel: { a: [{ id: "x", wait: "1m" }], b: [{ id: "y", call: "t.u", entity: "ops", args: { n: 1 } }] },
        },
        { id: "u", until: "true", do: [{ id: "r", call: "t.v" }], onError: { do: [{ id: "h", wait: "1s" }] } },
        { id: "m", map: "r", do: [{ id: "c", call: "t.w", undo: { call: "t.unw" } }] },
      ],
    }),
  );
  expect(steps.map(({ blocks }) => blocks.map(({ name }) => name))).toEqual([
    ["branch a", "branch b"],
    ["each round", "on error"],
    [],
  ]);
  expect(allSteps(steps).map(({ id }) => id)).toEqual(["p", "x", "y", "u", "r", "h", "m"]);
  expect(steps[2]?.calls[0]).toMatchObject({ tool: "t.w", undo: "t.unw" });
  expect(steps[0]?.blocks[1]?.steps[0]).toMatchObject({ entity: "ops", args: '{"n":1}' });
});

test("what is no program has no steps, and undoes nothing", () => {
  expect(readProgram("{")).toEqual([]);
  expect(undoneOn('{"saga":{"on":["failed","cancelled"]}}')).toEqual(["failed", "cancelled"]);
  expect(undoneOn("[]")).toEqual([]);
  expect(programPart('{"params":{"a":1}}', "params")).toBe('{\n  "a": 1\n}');
});
