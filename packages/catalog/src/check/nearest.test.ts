import fc from "fast-check";
import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

test.each([
  ["calendarId", ["calendar_id", "event_id"], "calendar_id"],
  ["calender_id", ["calendar_id", "event_id"], "calendar_id"],
  ["calendar-id", ["event_id", "calendar_id"], "calendar_id"],
  ["form", ["from", "to"], "from"],
  ["calendar.list_event", ["calendar.list_events", "calendar.get_event"], "calendar.list_events"],
  ["list_events", ["calendar.list_events", "calendar.get_event"], "calendar.list_events"],
  ["chat", ["chat_id", "text"], "chat_id"],
  ["frobnicate", ["calendar_id", "title"], undefined],
  ["x", ["summary"], undefined],
  ["", ["a"], undefined],
  ["a", [], undefined],
])("%j among %j means %s", (text, candidates, expected) => {
  expect(nearest(text, candidates)).toBe(expected);
});

test("property: the answer is one of the candidates and not the text itself; long texts have none", () => {
  const word = fc.string({ unit: fc.constantFrom(..."abc_.") });
  fc.assert(
    fc.property(word, fc.array(word), (text, candidates) => {
      const found = nearest(text, candidates);
      if (found !== undefined) expect(candidates).toContain(found);
      expect(found === undefined || found !== text).toBe(true);
    }),
  );
  expect(nearest("a".repeat(1_000_000), ["a".repeat(999_999)])).toBeUndefined();
});
