import { create } from "@bufbuild/protobuf";
import { SubscriptionFormatSchema, SubscriptionSchema } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import {
  canActivate,
  deliveredEvent,
  endpointFormat,
  endpointFormats,
  endpointSentence,
  endpointWord,
} from "./words.ts";

const endpoint = (of: object) => create(SubscriptionSchema, { health: { state: "inactive" }, ...of });
const now = 1_800_000_000_000;

test("a pause of the project names the project, and the customer cannot end it", () => {
  const paused = endpoint({ inactiveReason: "paused", pausedBy: "project" });
  expect(endpointWord(paused, "Acme").word).toBe("Paused by Acme");
  expect(endpointSentence(paused, "Acme", now)).toContain("Acme paused it.");
  expect(canActivate(paused)).toBe(false);
  const own = endpoint({ inactiveReason: "paused", pausedBy: "portal" });
  expect(endpointWord(own, "Acme").word).toBe("Paused");
  expect(endpointSentence(own, "Acme", now)).toContain("Paused.");
  expect(canActivate(own)).toBe(true);
});

test("an endpoint that is off says who turned it off, and only the customer's own pause can be ended by the customer", () => {
  const ofProject = endpoint({ inactiveReason: "deactivated" });
  expect(endpointSentence(ofProject, "Acme", now)).toBe("Acme turned it off. Ask Acme to turn it on again.");
  expect(canActivate(ofProject)).toBe(false);
  const expired = endpoint({ inactiveReason: "deactivated", pausedBy: "portal" });
  expect(endpointSentence(expired, "Acme", now)).toContain("paused for 30 days");
  expect(canActivate(expired)).toBe(true);
  expect(canActivate(endpoint({ inactiveReason: "failing" }))).toBe(true);
});

test("a format has a name that customers know", () => {
  expect(endpointFormats.map(({ words }) => words)).toContain("Default");
  expect(endpointFormats.map(({ value }) => value)).not.toContain("custom");
  expect(endpointFormat(endpoint({}))).toBe("Default");
  const format = create(SubscriptionFormatSchema, { kind: "standard" });
  expect(endpointFormat(endpoint({ format }))).toBe("Standard Webhooks");
});

test("a delivery names its event type", () => {
  expect(deliveredEvent({ triggerSlug: "events.invoice.paid" })).toBe("invoice.paid");
  expect(deliveredEvent({ triggerSlug: "" })).toBe("test event");
  expect(deliveredEvent({})).toContain("not offered any more");
});
