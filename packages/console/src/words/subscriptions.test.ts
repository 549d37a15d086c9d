import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { healthSentence, healthStates, healthWord, replayReasonWords } from "./subscriptions.ts";

const now = 1_800_000_000_000;
const failingSince = timestampFromMs(now - 720_000);

test("every state of health has its own word, sign and sentence", () => {
  const words = healthStates.map(healthWord);
  expect(words.map(({ word }) => word)).toEqual([...healthStates]);
  expect(new Set(words.map(({ icon }) => icon)).size).toBe(words.length);
});

test("an endpoint that fails says since when, and when it is tried next", () => {
  expect(healthSentence({ state: "failing", failingSince }, "", now)).toContain("has failed for 12 min");
  const backoffUntil = timestampFromMs(now + 25_000);
  expect(healthSentence({ state: "backing_off", failingSince, backoffUntil }, "", now)).toContain("is tried in 25 s");
});

test("an endpoint that refuses connections or is slow says so", () => {
  const refused = { state: "failing", failingSince, lastError: "connection_refused" };
  expect(healthSentence(refused, "", now)).toContain(
    "Nothing listens at the endpoint's address. Its endpoint has failed",
  );
  expect(healthSentence({ state: "slow", p50Ms: 4_000 }, "", now)).toContain("half of the answers take 4 s or longer");
});

test("one that nothing failed at is not said to take what it never got", () => {
  expect(healthSentence({ state: "well" }, "", now)).toBe("Nothing was delivered to it yet.");
  expect(healthSentence({ state: "well", lastSuccessAt: failingSince }, "", now)).toContain("takes what is delivered");
});

test("an inactive one says why, by its reason", () => {
  expect(healthSentence({ state: "inactive" }, "gone", now)).toContain("410 Gone");
  expect(healthSentence({ state: "inactive" }, "deactivated", now)).toContain("paused");
});

test("a replay that waits for one endpoint names it", () => {
  expect(replayReasonWords("backoff", "app.example.com/hooks")).toBe("waits: app.example.com/hooks fails");
  expect(replayReasonWords("inactive", "")).toBe("waits: the subscription of the endpoint is inactive");
  expect(replayReasonWords("quota", "")).toContain("as many deliveries pending");
  expect(replayReasonWords("", "")).toBe("");
});
