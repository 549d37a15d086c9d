import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { SubscriptionRetrySchema, SubscriptionSchema } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import {
  credentialsWords,
  filterFaultWords,
  formatWords,
  healthSentence,
  healthStates,
  healthWord,
  paceWords,
  pauserOf,
  previewWords,
  receivesWords,
  replayReasonWords,
  retryWords,
} from "./subscriptions.ts";

const now = 1_800_000_000_000;
const failingSince = timestampFromMs(now - 720_000);

test("every state of health has its own word, sign and sentence", () => {
  const words = healthStates.map((state) => healthWord(state, ""));
  expect(words.map(({ word }) => word)).toEqual(["Healthy", "Slow", "Failing", "Failing", "Off"]);
  expect(new Set(words.map(({ icon }) => icon)).size).toBe(words.length);
});

test("an endpoint that fails says since when, and when it is tried next", () => {
  expect(healthSentence({ state: "failing", failingSince }, "", now)).toContain("has been failing for 12 min");
  const backoffUntil = timestampFromMs(now + 25_000);
  expect(healthSentence({ state: "backing_off", failingSince, backoffUntil }, "", now)).toContain("as a test in 25 s");
});

test("an endpoint that refuses connections or is slow says so", () => {
  const refused = { state: "failing", failingSince, lastError: "connection_refused" };
  expect(healthSentence(refused, "", now)).toContain(
    "The endpoint refused the connection. The endpoint has been failing",
  );
  expect(healthSentence({ state: "slow", p50Ms: 4_000 }, "", now)).toContain("half of the answers take 4 s or longer");
});

test("one that nothing failed at is not said to take what it never got", () => {
  expect(healthSentence({ state: "well" }, "", now)).toBe("Nothing was delivered yet.");
  expect(healthSentence({ state: "well", lastSuccessAt: failingSince }, "", now)).toContain("accepts deliveries");
});

test("an inactive one says why, by its reason", () => {
  expect(healthSentence({ state: "inactive" }, "gone", now)).toContain("410 Gone");
  expect(healthSentence({ state: "inactive" }, "deactivated", now)).toContain("turn it on");
  expect(healthSentence({ state: "inactive" }, "paused", now)).toContain("when you resume it");
  expect(healthWord("inactive", "paused").word).toBe("Paused");
});

test("a pause names its actor, if the reader is not the one who paused", () => {
  expect(pauserOf({ pausedBy: "project" })).toBe("");
  const pauser = pauserOf({ pausedBy: "portal" });
  expect(healthWord("inactive", "paused", pauser).word).toBe("Paused by the customer");
  expect(healthSentence({ state: "inactive" }, "paused", now, pauser)).toBe(
    "The customer paused it. Events are kept for 30 days, and delivered when you resume it.",
  );
});

test("a replay that waits for one endpoint names it", () => {
  expect(replayReasonWords("backoff", "app.example.com/hooks")).toBe("Waiting: app.example.com/hooks is failing.");
  expect(replayReasonWords("inactive", "")).toBe("Waiting: the endpoint is off or paused.");
  expect(replayReasonWords("quota", "")).toContain("fewer deliveries");
  expect(replayReasonWords("", "")).toBe("");
});

test("a subscription says what it receives: its event types, its entity, and that a filter narrows them", () => {
  const receives = (of: object) => receivesWords(create(SubscriptionSchema, of));
  expect(receives({})).toBe("All events");
  expect(receives({ toolkitSlug: "events", match: { triggerSlugs: [], filter: "true" } })).toBe(
    "All own events, filtered",
  );
  expect(receives({ match: { triggerSlugs: ["events.a", "calendar.b"] }, entityId: "ada" })).toBe(
    "events.a, calendar.b, of ada",
  );
});

test("format, credentials and retries are named, and never a secret", () => {
  expect([formatWords(""), formatWords("standard"), formatWords("later")]).toEqual([
    "svc",
    "Standard Webhooks",
    "later",
  ]);
  expect(credentialsWords()).toBe("none");
  expect(credentialsWords({ headerNames: ["x-team", "x-env"], auth: "bearer" })).toBe(
    "headers x-team, x-env; fixed token",
  );
  const schedule = [10_000, 60_000].map(durationFromMs);
  expect(retryWords(create(SubscriptionRetrySchema, { schedule, neverGiveUp: true, timeoutMs: 5_000 }))).toBe(
    "after 10 s, 1 min; never deactivated because of failures; at most 5 s per attempt",
  );
  expect(retryWords(undefined)).toBe("as set for the deployment");
});

test("a pace says its rate and how many attempts run at a time", () => {
  expect(paceWords({ max: 1_200, per: "1m", concurrency: 2 })).toBe(
    "at most 1,200 in a minute, evenly spaced; at most 2 at a time",
  );
  expect(paceWords({ max: 0, per: "", concurrency: 1 })).toBe("at most 1 at a time");
});

test("a preview says how many past events it would deliver, and for how many the filter has no value", () => {
  expect(previewWords({ scanned: 0, matched: 0 })).toBe("No past event to try it on.");
  expect(previewWords({ scanned: 1000, matched: 12 })).toBe("12 of the last 1,000 events would be delivered.");
  expect(previewWords({ scanned: 1, matched: 1 })).toBe("The last event would be delivered.");
  expect(filterFaultWords(1, false)).toBe(
    "The filter could not be evaluated for 1 event, so it would not be delivered.",
  );
  expect(filterFaultWords(1_200, true)).toBe(
    "The filter could not be evaluated for 1,200 events, so they were not delivered.",
  );
});
