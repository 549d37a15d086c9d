import { expect, test } from "vitest";
import { rangeSince, readHomeSearch, shownRange, zoomed } from "./filters.ts";

const now = Date.UTC(2026, 2, 4, 15, 6, 7);

test("charts go back 24 hours unless the address says otherwise, and are the same request for a minute", () => {
  const { sinceMs, untilMs } = shownRange(readHomeSearch({}), now);
  expect(new Date(untilMs).toISOString()).toBe("2026-03-04T15:07:00.000Z");
  expect(untilMs - sinceMs).toBe(86_400_000);
  expect(shownRange(readHomeSearch({ range: "1h" }), now + 50_000)).toEqual({
    sinceMs: untilMs - 3_600_000,
    untilMs,
  });
});

test("what was zoomed to comes before the range, unless it is none", () => {
  const search = zoomed(now - 3_600_000, now + 60_000, now);
  expect(search).toEqual({ since: "2026-03-04T14:06:00.000Z", until: "2026-03-04T15:07:00.000Z" });
  expect(shownRange(readHomeSearch(search), now)).toEqual({
    sinceMs: Date.parse(search.since),
    untilMs: Date.parse(search.until),
  });
  expect(shownRange(readHomeSearch({ since: "yesterday", until: search.until }), now)).toEqual(
    shownRange(readHomeSearch({}), now),
  );
  expect(zoomed(now, now + 1, now)).toEqual({ since: "2026-03-04T15:02:00.000Z", until: "2026-03-04T15:07:00.000Z" });
});

test("charts begin with the shortest range that contains the first event", () => {
  const minuteMs = 60_000;
  const agesMs = [
    5 * minuteMs,
    60 * minuteMs,
    61 * minuteMs,
    24 * 60 * minuteMs,
    24 * 60 * minuteMs + 1,
    400 * 86_400_000,
  ];
  expect(agesMs.map((ageMs) => rangeSince(now - ageMs, now))).toEqual(["1h", "1h", "24h", "24h", "7d", "7d"]);
  expect(rangeSince(undefined, now)).toBe("24h");
});
