import { expect, test } from "vitest";
import { replayReasonWords } from "./replays.ts";

test("a replay that waits for one endpoint names it", () => {
  expect(replayReasonWords("backoff", "app.example.com/hooks")).toBe("waits: app.example.com/hooks fails");
  expect(replayReasonWords("inactive", "")).toBe("waits: the subscription of the endpoint is inactive");
  expect(replayReasonWords("quota", "")).toContain("as many deliveries pending");
  expect(replayReasonWords("", "")).toBe("");
});
