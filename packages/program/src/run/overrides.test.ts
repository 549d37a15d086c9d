import { everyConstruct } from "@svc/testing/programs";
import { sampleProgram } from "@svc/testing/sample-program";
import { expect, test } from "vitest";
import type { Point } from "../point.ts";
import { parseCheckedProgram } from "../read/program.ts";
import { callsOf } from "../steps/index.ts";
import { applyOverrides, argumentsWith, noOverrides, paramsWith } from "./overrides.ts";
import { resolveArguments } from "./resolve.ts";

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
