import { timestampMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { isSpan, noSpan, spanRequest, spanWords } from "./spans.ts";

const now = Date.UTC(2026, 2, 4, 15, 6, 7);
const [since, until] = ["2026-03-04T14:05:00.000Z", "2026-03-04T14:13:00.000Z"];

test("times come before a range, which goes back from a whole minute", () => {
  const request = spanRequest({ range: "24h", since, until }, now);
  expect([request.since, request.until].map((at) => at && timestampMs(at))).toEqual([
    Date.parse(since),
    Date.parse(until),
  ]);
  const back = spanRequest({ range: "1h" }, now);
  expect(back.since && new Date(timestampMs(back.since)).toISOString()).toBe("2026-03-04T14:06:00.000Z");
  expect(spanRequest(noSpan, now)).toEqual({});
});

test("a span says what it is", () => {
  expect(spanWords({ since, until }, "utc")).toBe("03-04 14:05 to 03-04 14:13");
  expect(spanWords({ range: "1h" }, "utc")).toBeUndefined();
  expect([isSpan({ until }), isSpan(noSpan)]).toEqual([true, false]);
});
