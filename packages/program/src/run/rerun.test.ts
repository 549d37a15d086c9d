import { everyConstruct, ifStep } from "@svc/testing/programs";
import { expect, test } from "vitest";
import { parseCheckedProgram } from "../read/program.ts";
import { rerunOf } from "./rerun.ts";

const every = parseCheckedProgram(JSON.stringify(everyConstruct()));

test("a rerun repeats what stands between, with branches, up to the judge", () => {
  const rerun = rerunOf(every, "named", "check");
  expect("steps" in rerun && rerun.steps.map(({ id }) => id)).toEqual([
    "named",
    "choice",
    "me",
    "pause",
    "aside",
    "twice",
    "rest",
    "until",
    "poll",
    "look",
    "sorry",
    "approve",
    "check",
  ]);
});

test("a rerun of a judge in a branch repeats its own branch only", () => {
  const program = parseCheckedProgram(
    JSON.stringify({
      version: 1,
      title: "x",
      steps: [
        { id: "a", wait: "1s" },
        ifStep(
          "b",
          "true",
          [
            { id: "c", wait: "1s" },
            { id: "d", judge: "p" },
          ],
          [{ id: "e", wait: "1s" }],
        ),
      ],
      points: { p: { question: "?", continuations: ["proceed"], escalation: [{ principal: "lead" }] } },
    }),
  );
  const ids = (from: string, judge: string) => {
    const rerun = rerunOf(program, from, judge);
    return "steps" in rerun ? rerun.steps.map(({ id }) => id) : rerun.fault;
  };
  expect(ids("a", "d")).toEqual(["a", "b", "c", "d"]);
  expect(ids("c", "d")).toEqual(["c", "d"]);
  expect(ids("e", "d")).toBe("later");
  expect(ids("nope", "d")).toBe("unknown");
});

test("a rerun passes over an until, and stays in its round, and leaves none", () => {
  const round = [
    { id: "b", wait: "1s" },
    { id: "c", judge: "p" },
  ];
  const program = parseCheckedProgram(
    JSON.stringify({
      version: 1,
      title: "x",
      steps: [
        { id: "a", wait: "1s" },
        { id: "poll", until: "true", do: round, max: 2 },
        { id: "d", judge: "p" },
      ],
      points: { p: { question: "?", continuations: ["proceed"], escalation: [{ principal: "lead" }] } },
    }),
  );
  const ids = (from: string, judge: string) => {
    const rerun = rerunOf(program, from, judge);
    return "steps" in rerun ? rerun.steps.map(({ id }) => id) : rerun.fault;
  };
  expect(ids("a", "d")).toEqual(["a", "poll", "b", "c", "d"]);
  expect(ids("b", "c")).toEqual(["b", "c"]);
  expect(ids("a", "c")).toBe("block");
  expect(ids("poll", "c")).toBe("block");
  expect(ids("b", "d")).toBe("branch");
});
