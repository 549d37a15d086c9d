import { timestampMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { beyondReplays, eventsSearch, replayOfThese } from "./filters.ts";

const { isFiltered, read, request } = eventsSearch;

test("the list of an address is the same request for a minute", () => {
  const search = read({ range: "1h", toolkit: "calendar", open: "evt_1" });
  const at = 1_800_000_000_000;
  expect(request(search, at + 59_000)).toEqual(request(search, at));
  const { since, toolkitSlug } = request(search, at);
  expect(toolkitSlug).toBe("calendar");
  expect(since !== undefined && timestampMs(since as never)).toBe(at - 3_600_000);
});

test("what is open and whether the list is live filters nothing", () => {
  expect(isFiltered(read({ open: "evt_1", live: "off" }))).toBe(false);
  for (const filter of [{ range: "24h" }, { entity: "ada" }, { text: "lunch" }]) {
    expect(isFiltered(read(filter))).toBe(true);
  }
});

test("an entity and a text of the payload are asked for, the text no longer than it may be", () => {
  const { entityId, payloadContains } = request(read({ entity: "ada", text: "x".repeat(300) }), 0);
  expect([entityId, payloadContains?.length]).toEqual(["ada", 200]);
});

test("the filters in force are those of the replay that they lead to; of what has no time, it is everything", () => {
  const now = Date.UTC(2026, 2, 4, 15);
  const of = (raw: Record<string, string>) => replayOfThese(read(raw), now);
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
  expect(beyondReplays(read({ toolkit: "calendar", range: "1h" }))).toBe("");
  expect(beyondReplays(read({ entity: "ada", text: "x" }))).toBe("entity and text");
});
