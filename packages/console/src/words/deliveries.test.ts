import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import {
  attemptErrorWords,
  attemptWord,
  deliveryCountWords,
  deliveryFilterOptions,
  deliveryStates,
  deliveryWhy,
  deliveryWord,
} from "./deliveries.ts";

const now = 1_800_000_000_000;
const pending = { state: "pending", attempts: 1, lastError: "http_503", waitingReason: "retry" };

test("every state of a delivery has its own word, sign and sentence", () => {
  const words = [...deliveryStates.map((state) => ({ state, attempts: 0 })), { state: "pending", attempts: 3 }].map(
    deliveryWord,
  );
  expect(words.map(({ word }) => word)).toEqual(["Waiting", "Delivered", "Failed", "Retrying"]);
  expect(new Set(words.map(({ icon }) => icon)).size).toBe(words.length);
});

test("a state of a newer service is shown as it is", () => {
  expect(deliveryWord({ state: "postponed", attempts: 0 })).toMatchObject({ word: "postponed", tone: "plain" });
});

test("a code of a failed attempt is a sentence, whatever follows the code", () => {
  expect(attemptErrorWords("http_503")).toBe("The endpoint answered 503.");
  expect(attemptErrorWords("tls_error: CERT_HAS_EXPIRED")).toBe("The endpoint's certificate was not accepted.");
  expect(attemptErrorWords("new_code")).toBe("new_code");
});

test("an attempt without an answer has a word, and never a code", () => {
  expect(attemptWord("", 204).word).toBe("204");
  expect(attemptWord("http_503", 503).word).toBe("503");
  expect(attemptWord("timeout", 0).word).toBe("Timed out");
  expect(attemptWord("connection_refused", 0).word).toBe("No answer");
  expect(attemptWord("auth_failed: 401", 0)).toMatchObject({
    word: "Not sent",
    says: expect.stringContaining("token"),
  });
});

test("the filter and the counts of an event name the states in the same words", () => {
  expect(deliveryFilterOptions.map(({ words }) => words).join()).not.toMatch(/_|pending/);
  const counts = deliveryCountWords({ pending: 2, delivered: 0, deadLetter: 1, more: true });
  expect(counts.map(({ word }) => word)).toEqual(["1+ failed", "2+ waiting"]);
});

test("a pending delivery says why it waits, and for how long", () => {
  const at = (ms: number) => deliveryWhy({ ...pending, nextAttemptAt: timestampFromMs(now + ms) }, now);
  expect(at(25_000)).toBe("The endpoint answered 503. Next attempt in 25 s.");
  const held = { ...pending, waitingReason: "endpoint_failing", nextAttemptAt: timestampFromMs(now + 60_000) };
  expect(deliveryWhy(held, now)).toBe(
    "The endpoint answered 503. Waiting: the endpoint is failing. Next test in 1 min.",
  );
  const paced = { ...pending, lastError: "", waitingReason: "paced", nextAttemptAt: timestampFromMs(now + 36_000) };
  expect(deliveryWhy(paced, now)).toBe(
    "Waiting: the endpoint receives deliveries at a limited rate. Next attempt in 36 s.",
  );
  expect(deliveryWhy({ ...pending, attempts: 0, lastError: "", nextAttemptAt: timestampFromMs(now - 500) }, now)).toBe(
    "First attempt now.",
  );
});

test("one that was delivered has no failure to tell, even if attempts failed before", () => {
  expect(deliveryWhy({ ...pending, state: "delivered" }, now)).toBe("");
});
