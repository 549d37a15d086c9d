import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { SubscriptionSchema } from "@svc/gen/triggers";
import { expect, test } from "vitest";
import { createRequest, draftOf, faultsOf, newDraft, previewRequest, updateRequest } from "./draft.ts";

const stored = create(SubscriptionSchema, {
  ...{ id: "sub_1", endpointUrl: "https://a.example/hook", toolkitSlug: "events", description: "billing" },
  match: { triggerSlugs: ["events.invoice.paid"], filter: "event.payload.amount > 10" },
  format: { kind: "custom", bodyJson: '{"a":1}' },
  retry: { schedule: [10_000, 90_000].map(durationFromMs), giveUpAfter: durationFromMs(86_400_000), timeoutMs: 2_000 },
  credentials: { headerNames: ["x-team"], auth: "bearer" },
});

test("a new subscription sends only the parts that the user filled in", () => {
  const draft = { ...newDraft, endpointUrl: " https://a.example ", toolkitSlug: "events" };
  expect(createRequest(draft)).toEqual({
    ...{ endpointUrl: "https://a.example", toolkitSlug: "events", entityId: "", description: "" },
  });
  expect(
    createRequest({
      ...draft,
      ...{ types: ["events.a", "events.b"], filter: "true ", format: "standard", waits: "10s, 1m", timeout: "5s" },
      ...{ headers: [{ name: "x-team ", value: "7" }], auth: "basic", username: "u", password: " p " },
    }),
  ).toMatchObject({
    match: { triggerSlugs: ["events.a", "events.b"], filter: "true" },
    format: { kind: "standard", bodyJson: "" },
    retry: { schedule: [10_000, 60_000].map(durationFromMs), neverGiveUp: false, timeoutMs: 5_000 },
    credentials: { headers: [{ name: "x-team", value: "7" }], basic: { username: "u", password: " p " } },
  });
});

test("each kind of authentication sends its own fields, without what was typed for another kind", () => {
  const typed = { username: "u", password: "p", token: " t ", tokenUrl: " https://a.example/token", clientId: "c " };
  const sent = (auth: "basic" | "bearer" | "oauth2") =>
    createRequest({ ...newDraft, ...typed, clientSecret: "s", auth }).credentials;
  expect(sent("basic")).toEqual({ headers: [], basic: { username: "u", password: "p" } });
  expect(sent("bearer")).toEqual({ headers: [], bearer: { token: "t" } });
  expect(sent("oauth2")).toEqual({
    headers: [],
    oauth2: { tokenUrl: "https://a.example/token", clientId: "c", clientSecret: "s", scope: "", audience: "" },
  });
});

test("a change sends the changed parts alone, and leaves credentials that svc never shows", () => {
  const from = draftOf(stored);
  expect(from).toMatchObject({ waits: "10s, 90s", giveUpAfter: "1d", timeout: "2s", replacesCredentials: false });
  expect(updateRequest("sub_1", from, from)).toEqual({ id: "sub_1" });
  expect(updateRequest("sub_1", from, { ...from, filter: "", description: "" })).toEqual({
    ...{ id: "sub_1", description: "", match: { triggerSlugs: ["events.invoice.paid"], filter: "" } },
  });
  expect(updateRequest("sub_1", from, { ...from, neverGiveUp: true })).toEqual({
    id: "sub_1",
    retry: { schedule: [10_000, 90_000].map(durationFromMs), neverGiveUp: true, timeoutMs: 2_000 },
  });
  expect(updateRequest("sub_1", from, { ...from, replacesCredentials: true })).toEqual({
    ...{ id: "sub_1", credentials: { headers: [] } },
  });
});

test("a pace is sent as a whole, and numbers that are none are reported at their fields", () => {
  const draft = { ...newDraft, paceMax: "60", pacePer: "1m" };
  expect(createRequest(draft)).toMatchObject({ pace: { max: 60, per: "1m", concurrency: 0 } });
  const paced = create(SubscriptionSchema, { pace: { max: 60, per: "1m", concurrency: 2 } });
  const from = draftOf(paced);
  expect(from).toMatchObject({ paceMax: "60", pacePer: "1m", concurrency: "2" });
  expect(updateRequest("sub_1", from, { ...from, paceMax: "" })).toEqual({
    ...{ id: "sub_1", pace: { max: 0, per: "", concurrency: 2 } },
  });
  expect(faultsOf({ ...newDraft, paceMax: "ten", concurrency: "0" })).toEqual({
    ...{ paceMax: expect.stringContaining("whole number"), concurrency: expect.stringContaining("whole number") },
  });
});

test("a preview has the match and the format of the draft, also those that are empty", () => {
  expect(previewRequest("sub_1", { ...draftOf(stored), types: [], filter: "", format: "svc" })).toMatchObject({
    ...{ id: "sub_1", match: { triggerSlugs: [], filter: "" }, format: { kind: "svc", bodyJson: "" } },
  });
});

test("a text that is not a duration is reported at its field, and so is the loss of the only event type", () => {
  expect(faultsOf({ ...newDraft, waits: "10s, soon", timeout: "1m" })).toEqual({
    waits: expect.stringContaining('The duration "soon" is not understood'),
  });
  const single = create(SubscriptionSchema, { toolkitSlug: "events", triggerSlug: "events.a" });
  expect(faultsOf(draftOf(single), single)).toEqual({});
  expect(faultsOf({ ...draftOf(single), types: [] }, single).types).toContain("Add an event type");
});
