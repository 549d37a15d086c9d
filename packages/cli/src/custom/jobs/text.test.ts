import { expect, test } from "vitest";
import { rowsText, statusNames } from "./text.ts";

test("rows a filter leaves out are no loss, and those of other steps are told by their ends", () => {
  expect(rowsText({ in: 3_000, ok: 1_200, skipped: 1_800 }, "filter")).toBe("1,200 of 3,000 rows");
  expect(rowsText({ in: 1, ok: 0, failed: 1 }, "map")).toBe("1 row, 1 failed");
  expect(rowsText({ in: 3_000, ok: 12, skipped: 2_988 }, "distinct")).toBe("3,000 -> 12 rows");
  expect(rowsText({ in: 3_000, ok: 1 }, "group")).toBe("3,000 -> 1 row");
});

test("statuses are named in the order a job may take them", () => {
  expect(statusNames.slice(0, 3)).toEqual(["simulating", "pending_plan_approval", "queued"]);
  expect(statusNames).toHaveLength(12);
});
