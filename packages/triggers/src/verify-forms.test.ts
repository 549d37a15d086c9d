import type { ToolkitDocument, Webhook } from "@svc/catalog";
import { catalogOf } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { form, forms, hmac, json, keyBytes, signedUrl as publicUrl } from "@svc/testing/signed-forms";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { InboundPost } from "./outcome.ts";
import { secretsOf } from "./verify.ts";

const nowMs = Date.UTC(2026, 10, 29, 16, 20, 30);
const seconds = String(nowMs / 1000);
const secret = "4c1e-a-shared-secret";

function webhookOf(part: object): Webhook {
  const { watcher } = sampleToolkits;
  const webhook = { secretEnv: "SVC_WEBHOOK_SECRET_FORM", ...part } as unknown as ToolkitDocument["webhook"];
  const catalog = catalogOf({ toolkits: [{ ...watcher, toolkit: { ...watcher.toolkit, webhook } as never }] });
  return catalog.toolkits.get("watcher")!.webhook!;
}

function check(name: string) {
  const known = forms[name]!;
  const webhook = webhookOf(known.webhook);
  const key = known.secret ?? secret;
  const signed = (atMs = nowMs, withKey: string | Buffer = key, body = known.body): InboundPost => {
    const made = known.post(body, withKey, atMs);
    return { toolkitSlug: "watcher", headers: {}, query: new URLSearchParams(), body: Buffer.from(body), ...made };
  };
  const verify = (post: InboundPost, value = key) =>
    webhook.isVerified(post, secretsOf(webhook, value), { nowMs, publicUrl });
  return { ...known, webhook, key, signed, verify, isToken: webhook.scheme === "token_query" };
}

test.each(Object.keys(forms))("%s: a post signed by the rule is accepted, and no other", (name) => {
  const { webhook, key, signed, verify, isToken, toleranceMs } = check(name);
  const right = signed();
  expect(verify(right)).toBe(true);
  // During a rotation, both secrets are valid.
  const isBasic = "basic" in webhook.parameters;
  const other = isBasic ? "another:one" : "another";
  expect(verify(right, `${other} ${key}`)).toBe(true);
  expect(verify(right, `${key} ${other}`)).toBe(true);
  expect(verify(right, other)).toBe(false);
  // With basic authentication, a word without a colon is the rest of a password with a blank, so no secret is valid.
  expect(verify(right, `${key} word`)).toBe(!isBasic);
  expect(verify(right, "")).toBe(false);
  expect(verify(signed(nowMs, ""))).toBe(false);
  expect(verify({ ...right, headers: {}, query: new URLSearchParams() })).toBe(false);
  const named = Object.keys(right.headers).filter((header) => webhook.secretHeaders.has(header));
  expect(named.length).toBe(webhook.parameter === "" ? 1 : 0);
  for (const header of named) {
    for (const value of ["", webhook.prefix]) {
      expect(verify({ ...right, headers: { ...right.headers, [header]: value } })).toBe(false);
    }
  }
  if (isToken) return;
  for (let at = 0; at < right.body.byteLength; at++) {
    const body = Buffer.from(right.body);
    body[at]! ^= 1;
    expect(verify({ ...right, body }), `byte ${at}`).toBe(false);
  }
  if (toleranceMs === undefined) return;
  for (const [offMs, is] of [
    [toleranceMs, true],
    [toleranceMs + 1_000, false],
  ] as const) {
    // The tolerance is exact: a time in seconds is rounded down.
    expect(verify(signed(nowMs - offMs))).toBe(is);
    expect(verify(signed(nowMs + offMs))).toBe(is);
  }
});

test.each(Object.keys(forms))("%s: what svc signs for a sample is accepted", (name) => {
  const { webhook, key, verify, body } = check(name);
  const headers = body.startsWith("{") || body.startsWith("[") ? {} : form;
  const unsigned = {
    path: "/webhooks/watcher",
    headers,
    query: { room: "a b" },
    body: Buffer.from(body.replace("TIME", "1")),
  };
  const { path, query, ...post } = webhook.sign(unsigned, webhook.secretOf(key)!, { nowMs, publicUrl });
  const search = new URLSearchParams(query);
  expect(verify({ ...post, toolkitSlug: "watcher", query: search, target: `${path}?${search}` })).toBe(true);
});

test("of any body and secret, what svc signs is accepted, and refused if a byte of body or signature differs", () => {
  // Kinds of signatures that can sign any bytes. A form body cannot be any bytes, and a header with a time has other parts.
  const names = Object.keys(forms).filter((name) => {
    const { scheme, timestamp, signed = "" } = forms[name]!.webhook;
    return scheme === "hmac_sha256" && timestamp === undefined && !String(signed).includes("form");
  });
  expect(names.length).toBe(6);
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 });
  const secrets = fc.string({ minLength: 1, unit: "grapheme" });
  const change = fc.record({ at: fc.nat(), byte: fc.integer({ min: 1, max: 255 }) });
  fc.assert(
    fc.property(fc.constantFrom(...names), bytes, secrets, change, (name, body, text, { at, byte }) => {
      const { webhook } = check(name);
      const key = [webhook.secretOf(text)!];
      const time = { nowMs, publicUrl };
      const signed = webhook.sign(
        { path: "/webhooks/a", headers: {}, query: {}, body: Buffer.from(body) },
        key[0]!,
        time,
      );
      const is = (post: object) =>
        webhook.isVerified({ ...signed, query: new URLSearchParams(), target: "/webhooks/a", ...post }, key, time);
      expect(is({})).toBe(true);
      const other = Buffer.from(body);
      other[at % other.byteLength]! ^= byte;
      expect(is({ body: other })).toBe(false);
      const header = Buffer.from(signed.headers[webhook.header]!, "latin1");
      header[at % header.byteLength]! ^= byte;
      const wrong = header.toString("latin1");
      // The same signature may be written as hex in the other case, or as base64url without padding. Such a header is left out.
      fc.pre(wrong.toLowerCase() !== signed.headers[webhook.header]!.toLowerCase());
      expect(is({ headers: { ...signed.headers, [webhook.header]: wrong } })).toBe(false);
    }),
    { numRuns: 500 },
  );
});

test("a signature of the address is refused without the address, and with the address of another host", () => {
  const { webhook, signed, key } = check("address and body");
  const secrets = secretsOf(webhook, key);
  expect(webhook.needsUrl).toBe(true);
  expect(webhook.isVerified(signed(), secrets, { nowMs })).toBe(false);
  expect(webhook.isVerified({ ...signed(), target: undefined }, secrets, { nowMs, publicUrl })).toBe(false);
  const others = { nowMs, publicUrl: "https://other.example.com" };
  expect(webhook.isVerified(signed(), secrets, others)).toBe(false);
  const post = { path: "/webhooks/watcher", headers: {}, query: {}, body: Buffer.from("{}") };
  expect(() => webhook.sign(post, secrets[0]!, { nowMs })).toThrow("covers the public address");
});

test("a value that the signature covers and the post lacks or repeats is refused", () => {
  const { signed, verify, webhook } = check("time and signatures in one header");
  const right = signed();
  const header = right.headers["x-signature"]!;
  const t = `t=${seconds}`;
  const withHeader = (value: string) => verify({ ...right, headers: { "x-signature": value } });
  expect(withHeader(header.replace(",", ", "))).toBe(true);
  expect(withHeader(header.replace(`${t},`, ""))).toBe(false);
  expect(withHeader(`${t},${header}`)).toBe(false);
  expect(withHeader(header.replace("v1=", "v2="))).toBe(false);
  const wrong = hmac("other", "x").digest("hex");
  const [, first] = header.split(",");
  expect(withHeader([t, ...Array(19).fill(`v1=${wrong}`), first].join(","))).toBe(true);
  expect(withHeader([t, ...Array(20).fill(`v1=${wrong}`), first].join(","))).toBe(false);
  expect(webhook.parameters).toMatchObject({ split: "comma", timestamp: "{{signature.t}}", tolerance: "5m" });
  const covered = webhookOf({ ...forms["base64 alone"]!.webhook, signed: "{{query.id}}:{{body}}" });
  const text = (query: string) => ({
    ...{ headers: { "x-shop-hmac-sha256": hmac(secret, `7:${json}`).digest("base64") }, body: Buffer.from(json) },
    query: new URLSearchParams(query),
  });
  const verdict = (query: string) => covered.isVerified(text(query), secretsOf(covered, secret), { nowMs });
  expect(["id=7", "id=8", "", "id=7&id=7"].map(verdict)).toEqual([true, false, false, false]);
});

test("of a refused post the cause is told, without a value of it", () => {
  const causeOf = (
    name: string,
    change: (post: ReturnType<ReturnType<typeof check>["signed"]>) => object,
    atMs = nowMs,
  ) => {
    const { webhook, signed, key } = check(name);
    const post = { ...signed(), ...change(signed()) };
    return webhook.whyUnverified(post, secretsOf(webhook, key), { nowMs: atMs, publicUrl });
  };
  const timed = "time and signatures in one header";
  const covered = "{{signature.t}}.{{body}}";
  expect(causeOf(timed, () => ({ headers: {} }))).toBe("it has no header x-signature");
  expect(causeOf(timed, () => ({ headers: { "x-signature": "t=1" } }))).toBe(
    "its header x-signature has no signature of the form v1=<hex>",
  );
  expect(
    causeOf(timed, ({ headers }) => ({ headers: { "x-signature": headers["x-signature"]!.replace(/^t=/, "u=") } })),
  ).toBe(`it lacks a value that the signature covers, which is ${covered}`);
  expect(causeOf(timed, () => ({ body: Buffer.from("{}") }))).toBe(
    `no secret of the webhook makes its signature over ${covered}`,
  );
  expect(causeOf(timed, () => ({}), nowMs + 600_000)).toBe("its time is more than 5m from now, or cannot be read");
});

test("a secret that is not in its declared encoding is no secret", () => {
  const { webhook } = check("Standard Webhooks");
  expect(secretsOf(webhook, "whsec_ whsec_%% whsec_a not-base64!").length).toBe(0);
  expect(secretsOf(webhook, keyBytes.toString("base64")).length).toBe(1);
  const hex = webhookOf({ ...forms["base64 alone"]!.webhook, secret: { encoding: "hex" } });
  expect(["0", "zz", "00ff"].map((text) => hex.secretOf(text) !== undefined)).toEqual([false, false, true]);
  const headers = { "x-shop-hmac-sha256": hmac(Buffer.from("00ff", "hex"), json).digest("base64") };
  const post = { headers, query: new URLSearchParams(), body: Buffer.from(json) };
  expect(hex.isVerified(post, secretsOf(hex, "00ff"), { nowMs })).toBe(true);
});

test("the published examples of the forms verify", () => {
  const examples: [object, string, Record<string, string>, string, number][] = [
    [
      forms["hex after a prefix"]!.webhook,
      "It's a Secret to Everybody",
      { "x-code-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" },
      "Hello, World!",
      nowMs,
    ],
    [
      forms["Standard Webhooks"]!.webhook,
      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      },
      '{"test": 2432232314}',
      1_614_265_330_000,
    ],
    [
      forms["address and body"]!.webhook,
      "asdf1234",
      { "x-hmacsha256-signature": "2kRE5qRU2tR+tBGlDwMEw2avJ7QM4ikPYD/PJ3bd9Og=" },
      '{"hello":"world"}',
      nowMs,
    ],
    // Test vector of RFC 4231, section 4.3.
    [
      { scheme: "hmac_sha256", header: "x-signature", encoding: "hex" },
      "Jefe",
      { "x-signature": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
      "what do ya want for nothing?",
      nowMs,
    ],
  ];
  for (const [part, text, headers, body, atMs] of examples) {
    const webhook = webhookOf(part);
    const post = { headers, query: new URLSearchParams(), body: Buffer.from(body), target: "/webhook" };
    const at = { nowMs: atMs, publicUrl: "https://example.com" };
    expect(webhook.isVerified(post, [webhook.secretOf(text)!], at), text).toBe(true);
    expect(webhook.isVerified(post, [webhook.secretOf(`${text.slice(0, -1)}X`)!], at), text).toBe(false);
  }
});
