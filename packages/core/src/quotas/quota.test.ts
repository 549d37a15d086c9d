import { expect, test } from "vitest";
import { quotaFaults } from "./quota.ts";

test("a refusal says how much there may be and, but for a rate, how much there is", () => {
  expect(quotaFaults.storedBytes({ most: 1, used: 6_159_205 }).message).toContain(
    "the project may have 1 stored byte, and has 6159205",
  );
  expect(quotaFaults.jobs({ most: 1, used: 1 }).message).toBe(
    "the project may have 1 job that has not ended, and has 1",
  );
  expect(quotaFaults.jobs({ most: 2, used: 2 }).message).toContain("2 jobs that have not ended");
  expect(quotaFaults.pendingDeliveries({ most: 3, used: 3, isLeast: true }).message).toContain(
    "the project may have 3 pending deliveries, and has 3 or more",
  );
  expect(quotaFaults.posts({ most: 1 }).message).toContain(
    "the project is over its quota of posts a second at this node, which is 1",
  );
});
