import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { deliveriesRequest, deliveriesSearch } from "./filters.ts";

const { isFiltered, read } = deliveriesSearch;
const now = Date.UTC(2026, 2, 4, 15);
const request = (raw: Record<string, string>) => deliveriesRequest(read(raw), "sub_first", now);

test("a state lists the deliveries of every subscription, of any time; less than that those of the first", () => {
  expect(request({})).toMatchObject({ subscriptionId: "sub_first", state: "" });
  expect(request({ range: "24h" })).toMatchObject({ subscriptionId: "sub_first", state: "" });
  expect(request({ state: "dead_letter" })).toMatchObject({
    ...{ subscriptionId: "", state: "dead_letter", since: timestampFromMs(0) },
  });
  expect(request({ state: "dead_letter", range: "24h" })).toMatchObject({
    ...{ subscriptionId: "", state: "dead_letter", since: timestampFromMs(now - 86_400_000) },
  });
  expect(request({ state: "failed" })).toMatchObject({
    subscriptionId: "",
    onlyFailed: true,
    since: timestampFromMs(0),
  });
  expect(request({ state: "pending", subscription: "sub_1" }).subscriptionId).toBe("sub_1");
});

test("whose deliveries are shown is no filter", () => {
  expect(isFiltered(read({ subscription: "sub_1", open: "dlv_1" }))).toBe(false);
  expect(isFiltered(read({ until: "2026-03-04T15:00:00Z" }))).toBe(true);
});
