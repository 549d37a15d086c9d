import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { deliveriesSearch } from "./filters.ts";
import { deliveriesRequest, resendFailed } from "./request.ts";

const { isFiltered, read } = deliveriesSearch;
const now = Date.UTC(2026, 2, 4, 15);
const request = (raw: Record<string, string>) => deliveriesRequest(read(raw), now);

test("a tab selects its states; without one, all deliveries of the project or of one subscription are listed", () => {
  expect(request({}).states).toEqual(["waiting", "retrying", "failed", "delivered"]);
  expect(request({ subscription: "sub_1" })).toMatchObject({ subscriptionId: "sub_1", states: [] });
  expect(request({ state: "failed" }).states).toEqual(["retrying", "failed"]);
  expect(request({ state: "pending" }).states).toEqual(["waiting", "retrying"]);
  expect(request({ state: "dead_letter", range: "24h" })).toMatchObject({
    ...{ states: ["failed"], since: timestampFromMs(now - 86_400_000) },
  });
});

test("an answer that is no HTTP status, and a state that the page does not know, are ignored", () => {
  expect(request({ answer: "lost", state: "lost" })).toMatchObject({ statusCode: 0, states: { length: 4 } });
  expect(request({ answer: "503", event: "calendar.events_changed" })).toMatchObject({
    ...{ statusCode: 503, triggerSlug: "calendar.events_changed" },
  });
});

test("whose deliveries are shown is no filter", () => {
  expect(isFiltered(read({ subscription: "sub_1", open: "dlv_1" }))).toBe(false);
  expect(isFiltered(read({ until: "2026-03-04T15:00:00Z" }))).toBe(true);
});

test("what failed is resent for the subscription, event and time of the list", () => {
  expect(resendFailed(read({ subscription: "sub_1", event: "calendar.events_changed", range: "1h" }), now)).toEqual({
    ...{ start: "yes", only: "failed", subscription: "sub_1", trigger: "calendar.events_changed" },
    since: "2026-03-04T14:00:00.000Z",
  });
  expect(resendFailed(read({}), now)).toEqual({ start: "yes", only: "failed", since: "1970-01-01T00:00:00.000Z" });
});
