import { expect, test } from "vitest";
import { applyOverrides, argumentsWith, noOverrides, paramsWith } from "./overrides.ts";
import { callsOf, type Point } from "./program.ts";
import { parseCheckedProgram } from "./read-program.ts";
import { rerunOf } from "./rerun.ts";
import { resolveArguments } from "./resolve.ts";
import { sampleProgram } from "./sample-program.ts";
import { everyConstruct, ifStep } from "./test-programs.ts";

const sample = parseCheckedProgram(JSON.stringify(sampleProgram()));
const every = parseCheckedProgram(JSON.stringify(everyConstruct()));
const pointOf = (program: typeof sample, id: string) => program.points.get(id) as Point;

test("overrides of params are checked and applied, the latest winning", () => {
  const point = pointOf(sample, "many");
  const first = applyOverrides(noOverrides, point, '{"minGuests": 3}');
  if ("faults" in first) throw new Error("refused");
  const second = applyOverrides(first.applied, point, '{"minGuests": 4}');
  if ("faults" in second) throw new Error("refused");
  expect(paramsWith(sample, second.applied)).toEqual({ minGuests: 4 });
  expect(sample.params).toEqual({ minGuests: 1 });
});

test.each(["{", "[]", "5", '{"minGuests": "3"}', '{"other": 1}'])("overrides %s are refused", (text) => {
  expect(applyOverrides(noOverrides, pointOf(sample, "many"), text)).toHaveProperty("faults");
});

test("a point without overrides takes none, and an answer without them changes nothing", () => {
  const point = pointOf(sample, "rowsFailed");
  expect(applyOverrides(noOverrides, point, "")).toEqual({ applied: noOverrides });
  expect(applyOverrides(noOverrides, point, "{}")).toEqual({ applied: noOverrides });
  expect(applyOverrides(noOverrides, point, '{"a":1}')).toHaveProperty("faults");
});

test("overrides of arguments stand in for what the program says, the others stay", () => {
  const applied = applyOverrides(noOverrides, pointOf(every, "sure"), '{"max_results": 10}');
  if ("faults" in applied) throw new Error("refused");
  const plan = callsOf(every.steps).find(({ id }) => id === "plan")!;
  const args = resolveArguments(argumentsWith(plan, applied.applied), { input: {}, params: { calendar: "primary" } });
  expect(args).toEqual({
    value: { calendar_id: "primary", order_by: "startTime", single_events: true, max_results: 10 },
  });
  expect(argumentsWith(plan, noOverrides)).toBe(plan.args);
});

test("a rerun repeats what stands between, with branches, up to the judge", () => {
  const rerun = rerunOf(every, "named", "check");
  expect("steps" in rerun && rerun.steps.map(({ id }) => id)).toEqual([
    "named",
    "choice",
    "me",
    "pause",
    "until",
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
