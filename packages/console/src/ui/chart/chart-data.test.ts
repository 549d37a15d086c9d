import { expect, test } from "vitest";
import { type ChartData, dashOf, pointOfKey, pointWords, summaryWords } from "./chart-data.ts";

const at = Date.UTC(2026, 2, 4, 15);
const minute = 60_000;
const line = (id: string, values: readonly (number | null)[]) => ({
  id,
  label: id,
  tone: "ok" as const,
  values,
  total: null,
});
const data: ChartData = {
  of: "counts",
  startMs: at,
  stepMs: minute,
  steps: 3,
  lines: [line("delivered", [1, 1_200, 0]), line("retried", [0, 4, 0])],
};

test("a point is read with its time and the value of every line", () => {
  expect(pointWords(data, 1, "utc")).toBe("15:01 to 15:02: delivered 1,200, retried 4");
  const long = { ...data, stepMs: 12 * 60 * minute };
  expect(pointWords(long, 1, "utc")).toBe("03-05 03:00 to 15:00: delivered 1,200, retried 4");
});

test("a chart says what was most and when, and that durations are estimates", () => {
  expect(summaryWords(data, "utc")).toBe("At most 1,204, 15:01 to 15:02.");
  const durations: ChartData = {
    ...data,
    of: "durations",
    lines: [line("p50", [null, 20, null]), line("p99", [null, 340, null])],
  };
  expect(summaryWords(durations, "utc")).toBe("At most 340 ms, 15:01 to 15:02. Estimates.");
  expect(summaryWords({ ...data, lines: [] }, "utc")).toBe("None in this range.");
});

test("keys lead from point to point and stay within the chart", () => {
  expect(pointOfKey("ArrowRight", undefined, 3)).toBe(0);
  expect(pointOfKey("ArrowLeft", undefined, 3)).toBe(2);
  expect(pointOfKey("ArrowRight", 2, 3)).toBe(2);
  expect(pointOfKey("PageDown", 2, 3)).toBe(0);
  expect(pointOfKey("End", 0, 3)).toBe(2);
  expect(pointOfKey("x", 0, 3)).toBeUndefined();
});

test("the lines of a chart differ by their dash", () => {
  expect(new Set([0, 1, 2, 3, 4, 5].map((place) => dashOf(place).join())).size).toBe(6);
});
