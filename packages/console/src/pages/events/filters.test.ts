import { timestampMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { beyondReplays, eventsRequest, isFiltered, readEventsSearch, replayOfThese } from "./filters.ts";

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
  for (const filter of [{ range: "24h" }, { entity: "ada" }, { text: "lunch" }]) {
    expect(isFiltered(readEventsSearch(filter))).toBe(true);
  }
});

test("an entity and a text of the payload are asked for, the text no longer than it may be", () => {
  const { entityId, payloadContains } = eventsRequest(readEventsSearch({ entity: "ada", text: "x".repeat(300) }), 0);
  expect([entityId, payloadContains?.length]).toEqual(["ada", 200]);
});

test("the filters in force are those of the replay that they lead to; of what has no time, it is everything", () => {
  const now = Date.UTC(2026, 2, 4, 15);
  const of = (raw: Record<string, string>) => replayOfThese(readEventsSearch(raw), now);
  expect(of({ toolkit: "calendar", range: "1h", open: "evt_1" })).toEqual({
    ...{ start: "yes", toolkit: "calendar", since: "2026-03-04T14:00:00.000Z" },
  });
  const [since, until] = ["2026-03-04T12:00:00.000Z", "2026-03-04T13:00:00.000Z"];
  expect(of({ trigger: "calendar.events_changed", since, until })).toEqual({
    ...{ start: "yes", trigger: "calendar.events_changed", since, until },
  });
  expect(of({ toolkit: "calendar" }).since).toBe("1970-01-01T00:00:00.000Z");
});

test("what a replay cannot be narrowed by is named", () => {
  expect(beyondReplays(readEventsSearch({ toolkit: "calendar", range: "1h" }))).toBe("");
  expect(beyondReplays(readEventsSearch({ entity: "ada", text: "x" }))).toBe("entity and text");
});
