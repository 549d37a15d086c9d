import fc from "fast-check";
import { expect, test } from "vitest";
import type { NormalizedPost, NormalizeFault, Post, Trigger } from "./model.ts";
import { catalogOf, sampleToolkits } from "./testing.ts";

const catalog = catalogOf({ toolkits: Object.values(sampleToolkits) });

function triggerOf(slug: string): Trigger {
  const tool = catalog.tools.get(slug);
  if (tool?.kind !== "trigger") throw new Error(`${slug} is not a trigger`);
  return tool;
}

const issueOpened = triggerOf("code_host.issue_opened");
const paymentChanged = triggerOf("payments.payment_changed");
const messagePosted = triggerOf("team_chat.message_posted");
const changed = triggerOf("watcher.changed");

const post = (part: Partial<Post>): Post => ({ headers: {}, query: {}, body: undefined, ...part });

function normalized(result: NormalizedPost | NormalizeFault): NormalizedPost {
  if ("fault" in result) throw new Error(result.fault);
  return result;
}

test("a post matches when every named value equals or is among those given", () => {
  const body = { action: "opened", extra: 1 };
  expect(issueOpened.matches(post({ headers: { "x-code-event": "issues" }, body }))).toBe(true);
  expect(issueOpened.matches(post({ headers: { "x-code-event": "issues" }, body: { action: "closed" } }))).toBe(false);
  expect(issueOpened.matches(post({ headers: { "x-code-event": "push" }, body }))).toBe(false);
  expect(issueOpened.matches(post({ body }))).toBe(false);
  expect(messagePosted.matches(post({ body: { type: "event_callback", event: { type: "message" } } }))).toBe(true);
  expect(messagePosted.matches(post({ body: { type: "event_callback", event: null } }))).toBe(false);
});

test("a post without a JSON body can match by headers", () => {
  expect(changed.matches(post({ headers: { "x-watch-state": "gone" } }))).toBe(true);
  expect(changed.matches(post({ headers: { "x-watch-state": "sync" } }))).toBe(false);
});

test("ignored posts are recognized, whatever the case of the declared header", () => {
  const ignores = (slug: string, headers: Record<string, string>) =>
    catalog.toolkits.get(slug)?.webhook?.ignores(post({ headers }));
  expect(ignores("code_host", { "x-code-event": "ping" })).toBe(true);
  expect(ignores("code_host", { "x-code-event": "push" })).toBe(false);
  expect(ignores("team_chat", {})).toBe(false);
});

test("a body-based post is normalized with account, dedupe key and time", () => {
  const body = {
    action: "opened",
    organization: { id: 77 },
    repository: { name: "svc" },
    issue: { number: "12", title: "Broken", created_at: "2026-01-02T03:04:05.678+01:00", labels: ["a"] },
  };
  expect(issueOpened.normalize(post({ headers: { "x-code-delivery": "d-1" }, body }))).toEqual({
    payload: { number: 12, title: "Broken", repository: "svc", labels: ["a"] },
    account: "77",
    dedupe: "d-1",
    occurredAt: Date.parse("2026-01-02T02:04:05.678Z"),
  });
});

test("a header-based post is normalized, and query parameters are read from either form", () => {
  const headers = { "x-watch-channel": "c1", "x-watch-number": "9" };
  const expected = { payload: { channel: "c1", number: 9, room: "r" }, account: "c1", dedupe: "c1:9" };
  expect(changed.normalize(post({ headers, query: new URLSearchParams("room=r") }))).toMatchObject(expected);
  expect(changed.normalize(post({ headers, query: { room: "r" } }))).toMatchObject(expected);
});

test("absent optional fields are dropped, and account, dedupe and time are then empty", () => {
  const body = { type: "payment.settled", payment: { id: "p", amount: 1 } };
  expect(paymentChanged.normalize(post({ body }))).toEqual({
    payload: { id: "p", state: "payment.settled", amount: 1 },
    account: "",
    dedupe: "",
    occurredAt: undefined,
  });
});

test("times are RFC 3339, Unix seconds or Unix milliseconds", () => {
  const at = (created: unknown) =>
    paymentChanged.normalize(post({ body: { type: "payment.settled", created, payment: { id: "p", amount: 1 } } }));
  expect(normalized(at(1_700_000_000)).occurredAt).toBe(1_700_000_000_000);
  expect(normalized(at("1700000000.25")).occurredAt).toBe(1_700_000_000_250);
  expect(normalized(at(1_700_000_000_123)).occurredAt).toBe(1_700_000_000_123);
  expect(normalized(at("2023-11-14T22:13:20Z")).occurredAt).toBe(1_700_000_000_000);
  for (const wrong of ["yesterday", "2023-11-14", true, {}, 1e300, "2023-13-14T22:13:20Z"]) {
    expect(at(wrong)).toMatchObject({ fault: expect.stringContaining("occurredAt") });
  }
});

test("what does not fit the definition is a fault that says where", () => {
  const faultOf = (payment: unknown, more = {}) =>
    paymentChanged.normalize(post({ body: { type: "payment.settled", payment, ...more } }));
  expect(faultOf({ id: "p" })).toEqual({ fault: expect.stringContaining("amount") });
  expect(faultOf({ id: 5, amount: 1 })).toEqual({ fault: expect.stringContaining("payload.id must be string") });
  expect(faultOf({ id: "p", amount: "9007199254740993" })).toEqual({ fault: expect.stringContaining("safe integer") });
  expect(faultOf({ id: "p", amount: 1.5 })).toEqual({ fault: expect.stringContaining("not an integer") });
  expect(faultOf({ id: "p", amount: 1 }, { account: { a: 1 } })).toEqual({ fault: expect.stringContaining("account") });
  expect(faultOf({ id: "p", amount: 1 }, { id: "x".repeat(513) })).toEqual({ fault: expect.stringContaining("512") });
  expect(faultOf({ id: "p", amount: 1 }, { id: "a\0" })).toEqual({ fault: expect.stringContaining("NUL") });
});

test("property: no post makes a trigger throw", () => {
  const triggers = [issueOpened, paymentChanged, messagePosted, changed, triggerOf("code_host.push_received")];
  fc.assert(
    fc.property(fc.jsonValue(), fc.dictionary(fc.string(), fc.string()), (body, headers) => {
      for (const trigger of triggers) {
        const received = post({ headers, body });
        expect(trigger.matches(received)).toBeTypeOf("boolean");
        const result = trigger.normalize(received);
        if ("fault" in result) expect(result.fault).not.toBe("");
        else expect(Object.keys(result.payload).length).toBeGreaterThan(0);
      }
    }),
  );
});
