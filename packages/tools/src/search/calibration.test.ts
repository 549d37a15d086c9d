import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import cases from "./calibration.json" with { type: "json" };
import { createToolSearch } from "./tool-search.ts";

const search = createToolSearch(await shippedCatalog());
const answers = cases.map(({ intent, accepts }) => {
  const { confidence, results } = search.search({ query: intent });
  return { hasTool: accepts.length > 0, confidence, isRight: accepts.includes(results[0]?.tool.slug ?? "") };
});
const shareOf = <T>(all: readonly T[], is: (one: T) => boolean) => all.filter(is).length / all.length;

test("for requests by people who do not know the catalog, high confidence is right, and requests without a tool get low", () => {
  const [fitting, others] = [answers.filter(({ hasTool }) => hasTool), answers.filter(({ hasTool }) => !hasTool)];
  const high = fitting.filter(({ confidence }) => confidence === "high");
  expect(high.length / fitting.length).toBeGreaterThanOrEqual(0.55);
  expect(shareOf(high, ({ isRight }) => isRight)).toBeGreaterThanOrEqual(0.9);
  expect(shareOf(others, ({ confidence }) => confidence === "high")).toBeLessThanOrEqual(0.031);
  expect(shareOf(others, ({ confidence }) => confidence === "low" || confidence === undefined)).toBeGreaterThanOrEqual(
    0.77,
  );
});
