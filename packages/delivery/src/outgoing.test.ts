import { createId, type EventId } from "@svc/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { deliveryBody } from "./outgoing.ts";

const event = {
  id: createId("evt", 0) as EventId,
  kind: "event" as const,
  toolkitSlug: "code_host",
  triggerSlug: "code_host.issue_opened",
  entityId: "",
  payload: "{}",
  occurredAtMs: Date.UTC(2026, 0, 5, 9, 0, 0, 7),
  receivedAtMs: Date.UTC(2026, 0, 5, 9, 0, 1),
};

test("a body has exactly the documented fields, in their order", () => {
  const body = deliveryBody({ ...event, payload: '{"number":7,"title":"a"}' }).toString("utf8");
  expect(body).toBe(
    `{"id":"${event.id}","type":"event","toolkitSlug":"code_host","triggerSlug":"code_host.issue_opened","entityId":"",` +
      '"occurredAt":"2026-01-05T09:00:00.007Z","receivedAt":"2026-01-05T09:00:01.000Z","payload":{"number":7,"title":"a"}}',
  );
});

test("a test event says so", () => {
  expect(JSON.parse(deliveryBody({ ...event, kind: "test" }).toString("utf8"))).toMatchObject({ type: "test" });
});

test("an ask's publication has its own fields after id and type", () => {
  const payload = JSON.stringify({ jobId: "job_1", ask: { question: "Go on?" } });
  const body = deliveryBody({ ...event, kind: "ask", payload }).toString("utf8");
  expect(body).toBe(`{"id":"${event.id}","type":"ask_raised","jobId":"job_1","ask":{"question":"Go on?"}}`);
});

test("whatever an event holds, its body is JSON that reads back the same", () => {
  const texts = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(texts, texts, fc.dictionary(fc.string(), fc.jsonValue()), (entityId, toolkitSlug, payload) => {
      const body = deliveryBody({ ...event, entityId, toolkitSlug, payload: JSON.stringify(payload) });
      const read = JSON.parse(body.toString("utf8"));
      expect([read.entityId, read.toolkitSlug]).toEqual([entityId, toolkitSlug]);
      expect(JSON.stringify(read.payload)).toBe(JSON.stringify(JSON.parse(JSON.stringify(payload))));
    }),
    { numRuns: 40 },
  );
});
