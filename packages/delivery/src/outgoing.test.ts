import { createId, type EventId, generateSigningSecret } from "@svc/core";
import { createTestClock } from "@svc/testing/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createCredentialHeaders } from "./credentials.ts";
import { createAgentEndpoint } from "./endpoint.ts";
import { deliveryBody, outgoingOf } from "./outgoing.ts";

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

test("any entity id and payload read back the same from the binary form of CloudEvents", () => {
  const texts = fc.string({ unit: "grapheme", minLength: 1 });
  const endpoint = { ...createAgentEndpoint("https://example.com/", generateSigningSecret(), "x"), agent: undefined };
  fc.assert(
    fc.property(texts, fc.dictionary(fc.string(), fc.jsonValue()), (entityId, payload) => {
      const stored = { ...event, entityId, payload: JSON.stringify(payload) };
      const ids = { id: createId("dlv", 0), projectId: createId("prj", 0), subscriptionId: createId("sub", 0) };
      const format = { kind: "cloudevents_binary", bodyJson: "" } as const;
      const { body, bodyHeaders = [] } = outgoingOf(stored, ids, { ...endpoint, format }, 0);
      const headers = Object.fromEntries(
        bodyHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, bodyHeaders[at + 1]]] : [])),
      );
      expect(Object.values(headers).join("")).toMatch(/^[\x21-\x7e]*$/);
      expect(decodeURIComponent(String(headers["ce-subject"]))).toBe(entityId);
      expect(JSON.parse(body.toString("utf8"))).toEqual(JSON.parse(JSON.stringify(payload)));
    }),
    { numRuns: 40 },
  );
});

test("attempts of one OAuth2 client share a request for a token, until a minute before its end or a refusal", async () => {
  const clock = createTestClock();
  let posts = 0;
  const outcomes: string[] = [];
  const post = async () => {
    const responseBody = JSON.stringify({ access_token: `t${++posts}`, token_type: "Bearer", expires_in: 600 });
    const responseHeaders = { "content-type": "application/json" };
    return { statusCode: posts === 3 ? 500 : 200, error: "", address: "", responseHeaders, responseBody };
  };
  const headers = createCredentialHeaders(clock, post, (outcome) => outcomes.push(outcome));
  const client = { tokenUrl: "https://example.com/token", clientId: "a", clientSecret: "b", scope: "", audience: "" };
  const credentials = { headers: [], auth: { kind: "oauth2", ...client } } as const;
  const sent = async () => JSON.stringify(await headers.of(credentials));
  expect(new Set(await Promise.all([sent(), sent(), sent()]))).toEqual(new Set([expect.stringContaining("Bearer t1")]));
  clock.advance(539_999);
  expect(await sent()).toContain("Bearer t1");
  clock.advance(1);
  expect(await sent()).toContain("Bearer t2");
  headers.drop(credentials);
  expect(await sent()).toBe('{"fault":"the token endpoint answered 500"}');
  expect(await sent()).toContain("Bearer t4");
  expect(outcomes).toEqual(["token", "token", "refused", "failed", "token"]);
});
