import { parseExactJson } from "@svc/core";
import { catalogOf } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { NormalizedPost, NormalizeFault, Post, Trigger } from "../model.ts";
import { compileMatch } from "./match.ts";
import { compileNormalize } from "./normalize.ts";

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
    entityId: "",
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
    entityId: "",
    dedupe: "",
    occurredAt: undefined,
  });
});

test("a readable time becomes the event's; any other is ignored and rejects no event", () => {
  const at = (created: unknown) =>
    normalized(
      paymentChanged.normalize(post({ body: { type: "payment.settled", created, payment: { id: "p", amount: 1 } } })),
    ).occurredAt;
  expect(at(1_700_000_000)).toBe(1_700_000_000_000);
  expect(at("1700000000.25")).toBe(1_700_000_000_250);
  expect(at(1_700_000_000_123)).toBe(1_700_000_000_123);
  expect(at("2023-11-14T22:13:20Z")).toBe(1_700_000_000_000);
  expect(at("Tue, 14 Nov 2023 22:13:20 GMT")).toBe(1_700_000_000_000);
  expect(at("1969-07-20 20:17:40")).toBe(Date.UTC(1969, 6, 20, 20, 17, 40));
  for (const wrong of ["yesterday", true, {}, [1], 1e300, "2023-13-14T22:13:20Z"]) expect(at(wrong)).toBeUndefined();
});

test("a post that does not match the definition is a fault with its place", () => {
  const faultOf = (payment: unknown, more = {}) =>
    paymentChanged.normalize(post({ body: { type: "payment.settled", payment, ...more } }));
  expect(faultOf({ id: "p" })).toEqual({ fault: expect.stringContaining("amount") });
  expect(faultOf({ id: 5, amount: 1 })).toEqual({ fault: expect.stringContaining("payload.id must be string") });
  expect(faultOf({ id: "p", amount: 1.5 })).toEqual({ fault: expect.stringContaining("not an integer") });
  expect(faultOf({ id: "p", amount: 1 }, { account: { a: 1 } })).toEqual({ fault: expect.stringContaining("account") });
  expect(faultOf({ id: "p", amount: 1 }, { id: "x".repeat(513) })).toEqual({ fault: expect.stringContaining("512") });
  expect(faultOf({ id: "p", amount: 1 }, { id: "a\0" })).toEqual({ fault: expect.stringContaining("NUL") });
});

test("numbers of many digits keep them in payload, account and dedupe key, and match by their text", () => {
  const body = parseExactJson(
    '{"type":"payment.settled","account":9007199254740993,"id":9007199254740994,"payment":{"id":"p","amount":9007199254740995}}',
  );
  const { payload, account, dedupe } = normalized(paymentChanged.normalize(post({ body })));
  expect(JSON.stringify(payload)).toContain('"amount":9007199254740995');
  expect([account, dedupe]).toEqual(["9007199254740993", "9007199254740994"]);
  const texts = normalized(
    paymentChanged.normalize(
      post({ body: { type: "payment.settled", payment: { id: "p", amount: "9007199254740993" } } }),
    ),
  );
  expect(JSON.stringify(texts.payload)).toContain('"amount":9007199254740993');
  const matches = compileMatch({ body: { "hook.id": ["9007199254740993"] } });
  expect(matches(post({ body: parseExactJson('{"hook":{"id":9007199254740993}}') }))).toBe(true);
  expect(matches(post({ body: parseExactJson('{"hook":{"id":9007199254740992}}') }))).toBe(false);
  expect(
    compileMatch({ body: { "hook.rawJSON": "9007199254740993" } })(
      post({ body: parseExactJson('{"hook":9007199254740993}') }),
    ),
  ).toBe(false);
});

test("property: a fault quotes nothing of the post, neither values nor names", () => {
  const planted = "PLANTED-7f3a";
  const inner = { [planted]: planted };
  const bodies = [
    { action: "opened", issue: { number: planted, title: planted }, repository: { name: planted } },
    { action: "opened", issue: { number: 1, title: inner, labels: [planted] }, repository: { name: planted } },
    { action: "opened", issue: { number: 1, title: "t", labels: inner }, repository: { name: inner } },
    {
      action: "opened",
      issue: { number: 1, title: "t", labels: [{ [planted]: 1 }] },
      repository: { name: "r" },
      organization: { id: inner },
    },
  ];
  for (const body of bodies) {
    const result = issueOpened.normalize(post({ headers: { "x-code-delivery": planted }, body }));
    expect(result).toHaveProperty("fault");
    expect(JSON.stringify(result)).not.toContain("PLANTED");
  }
  const closed = compileNormalize({
    kind: "trigger",
    payload: { data: "{{body.data}}", list: [1, "{{body.item}}"] },
    output: {
      type: "object",
      properties: {
        data: {
          type: "object",
          additionalProperties: false,
          properties: { a: { type: "object", additionalProperties: { type: "string" } } },
        },
        list: { type: "array", items: { type: "integer" } },
      },
    },
  } as unknown as Parameters<typeof compileNormalize>[0]);
  const faultOf = (body: unknown) => closed(post({ body }));
  expect(faultOf({ data: inner })).toEqual({
    fault: "payload.data must not have a property that output does not name",
  });
  expect(faultOf({ data: { a: { [planted]: 1 } } })).toEqual({
    fault: "payload.data, inside of what the post brings, must be string",
  });
  expect(faultOf({ item: planted })).toEqual({ fault: "payload.list.1 must be integer" });
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

test("every field of a post that is wrong is named, up to five", () => {
  const body = { action: "opened", repository: { name: ["svc"] }, issue: { number: 12, title: {} } };
  const made = issueOpened.normalize(post({ headers: { "x-code-delivery": "d-1" }, body }));
  const fault = "fault" in made ? made.fault : "";
  expect(fault).toMatch(/payload\.title .*; payload\.repository /);
});
