import { timestampMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { eventsRequest, isFiltered, readEventsSearch } from "./filters.ts";

test("the list of an address is the same request for a minute", () => {
  const search = readEventsSearch({ range: "1h", toolkit: "calendar", open: "evt_1" });
  const at = 1_800_000_000_000;
  expect(eventsRequest(search, at + 59_000)).toEqual(eventsRequest(search, at));
  const { since, toolkitSlug } = eventsRequest(search, at);
  expect(toolkitSlug).toBe("calendar");
  expect(since !== undefined && timestampMs(since as never)).toBe(at - 3_600_000);
});

test("what is open and whether the list is live filters nothing", () => {
  expect(isFiltered(readEventsSearch({ open: "evt_1", live: "off" }))).toBe(false);
  expect(isFiltered(readEventsSearch({ range: "24h" }))).toBe(true);
});
