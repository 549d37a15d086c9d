import { expect, test } from "vitest";
import { allSteps, programPart, readProgram, undoneOn } from "./program.ts";

const kinds = [
  ...[
    "call",
    "http",
    "map",
    "run",
    "filter",
    "reduce",
    "judge",
    "fail",
    "if",
    "parallel",
    "until",
    "wait",
    "sort",
    "limit",
  ],
  ...["distinct", "join", "group", "compute", "flatten", "take"],
];

test("a step is of the kind that its field tells, and what it works with can be read", () => {
  const steps = readProgram(JSON.stringify({ steps: kinds.map((kind) => ({ id: `of-${kind}`, [kind]: "x" })) }));
  expect(steps.map(({ kind }) => kind)).toEqual(kinds);
  for (const { kind, says } of steps) if (kind !== "parallel") expect(says, kind).toContain("x");
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
