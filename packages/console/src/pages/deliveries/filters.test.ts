import { expect, test } from "vitest";
import { deliveriesRequest, isFiltered, readDeliveriesSearch } from "./filters.ts";

const now = Date.UTC(2026, 2, 4, 15);
const request = (raw: Record<string, string>) => deliveriesRequest(readDeliveriesSearch(raw), "sub_first", now);

test("a state and a time list the deliveries of every subscription, less than that those of the first", () => {
  expect(request({})).toMatchObject({ subscriptionId: "sub_first", state: "" });
  expect(request({ state: "dead_letter" })).toMatchObject({ subscriptionId: "sub_first", state: "dead_letter" });
  expect(request({ state: "dead_letter", range: "24h" })).toMatchObject({ subscriptionId: "", state: "dead_letter" });
  expect(request({ state: "pending", range: "24h", subscription: "sub_1" }).subscriptionId).toBe("sub_1");
});

test("whose deliveries are shown is no filter", () => {
  expect(isFiltered(readDeliveriesSearch({ subscription: "sub_1", open: "dlv_1" }))).toBe(false);
  expect(isFiltered(readDeliveriesSearch({ until: "2026-03-04T15:00:00Z" }))).toBe(true);
});
