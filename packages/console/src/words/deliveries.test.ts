import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { attemptErrorWords, deliveryStates, deliveryWhy, deliveryWord } from "./deliveries.ts";

const now = 1_800_000_000_000;
const pending = { state: "pending", attempts: 1, lastError: "http_503", waitingReason: "retry" };

test("every state of a delivery has its own word, sign and sentence", () => {
  const words = deliveryStates.map(deliveryWord);
  expect(words.map(({ word }) => word)).toEqual([...deliveryStates]);
  expect(new Set(words.map(({ icon }) => icon)).size).toBe(words.length);
});

test("a state of a newer service is shown as it is", () => {
  expect(deliveryWord("postponed")).toMatchObject({ word: "postponed", tone: "plain" });
});

test("a code of a failed attempt is a sentence, whatever follows the code", () => {
  expect(attemptErrorWords("http_503")).toBe("The endpoint answered 503.");
  expect(attemptErrorWords("tls_error: CERT_HAS_EXPIRED")).toBe("The endpoint's certificate was not accepted.");
  expect(attemptErrorWords("new_code")).toBe("new_code");
});

test("a pending delivery says why it waits, and for how long", () => {
  const at = (ms: number) => deliveryWhy({ ...pending, nextAttemptAt: timestampFromMs(now + ms) }, now);
  expect(at(25_000)).toBe("The endpoint answered 503. Next attempt in 25 s.");
  const held = { ...pending, waitingReason: "endpoint_failing", nextAttemptAt: timestampFromMs(now + 60_000) };
  expect(deliveryWhy(held, now)).toBe(
    "The endpoint answered 503. It waits, since its endpoint fails; the next test is in 1 min.",
  );
  const paced = { ...pending, lastError: "", waitingReason: "paced", nextAttemptAt: timestampFromMs(now + 36_000) };
  expect(deliveryWhy(paced, now)).toBe(
    "The pace of its subscription holds it back; the next attempt may start in 36 s.",
  );
  expect(deliveryWhy({ ...pending, attempts: 0, lastError: "", nextAttemptAt: timestampFromMs(now - 500) }, now)).toBe(
    "First attempt now.",
  );
});

test("one that was delivered has no failure to tell, even if attempts failed before", () => {
  expect(deliveryWhy({ ...pending, state: "delivered" }, now)).toBe("");
});
