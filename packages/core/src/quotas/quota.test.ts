import { expect, test } from "vitest";
import { faultForCustomer, quotaFaults } from "./quota.ts";

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

test("a customer in the portal learns which kind of limit is reached, and no number", () => {
  for (const make of Object.values(quotaFaults)) {
    const fault = make({ most: 7_777, used: 7_776, retryAfterMs: 5_000 });
    const shown = faultForCustomer(fault);
    expect([shown.code, shown.details[0]?.reason, shown.retryAfterMs]).toEqual([fault.code, make.reason, 5_000]);
    expect(`${shown.message} ${shown.details[0]?.help}`).not.toMatch(/777|quota|SetProjectPolicy/);
  }
});
