import { createHmac } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, expectTypeOf, test } from "vitest";
import { machineClock } from "./clock.ts";
import type { DeliveryHeaders } from "./delivery-headers.ts";
import { DeliveryVerificationError } from "./delivery-verification-error.ts";
import { type VerifiedDelivery, verifyDelivery } from "./verify-delivery.ts";

const secret = `whsec_${Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7)).toString("base64")}`;
const otherSecret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const nowMs = 1_760_000_000_000;
const deliveryId = "dlv_01h455vb4pex5vsknk084sn02q";
const event = {
  id: "evt_01h455vb4pex5vsknk084sn02q",
  type: "event",
  toolkitSlug: "calendar",
  triggerSlug: "calendar.events_changed",
  entityId: "",
  occurredAt: "2025-10-09T08:53:20.000Z",
  receivedAt: "2025-10-09T08:53:20.000Z",
  payload: { message_number: 3, note: "Grüße" },
};
const body = JSON.stringify(event);

/** Signs a delivery as the documentation describes it. Uses only node:crypto, so that it is independent of the code under test. */
function sign(text: string | Uint8Array, { key = secret, atMs = nowMs, id = deliveryId } = {}): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const standardKey = Buffer.from(key.slice("whsec_".length), "base64");
  const standard = createHmac("sha256", standardKey).update(`${id}.${timestamp}.`).update(text).digest("base64");
  return {
    "x-svc-signature": `sha256=${createHmac("sha256", key).update(text).digest("hex")}`,
    "x-svc-delivery-id": id,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${standard}`,
  };
}

function without(headers: Record<string, string>, ...names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

const standardHeaders = ["webhook-id", "webhook-timestamp", "webhook-signature"];
const verify = (headers: DeliveryHeaders, text: string | Uint8Array = body, key = secret) =>
  verifyDelivery(headers, text, key, { now: () => nowMs });

async function reasonOf(verification: Promise<unknown>): Promise<string> {
  const err = await verification.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (err === undefined) return "accepted";
  if (!(err instanceof DeliveryVerificationError)) throw err;
  expect(err.message).not.toContain(secret);
  return err.reason;
}

const signed = sign(body);
const otherSigned = sign(body, { key: otherSecret });
/** Headers of a delivery during a rotation of the secret from `otherSecret` to `secret`. */
const rotating: Record<string, string> = {
  ...signed,
  "x-svc-signature": otherSigned["x-svc-signature"] ?? "",
  "x-svc-signature-next": signed["x-svc-signature"] ?? "",
  "webhook-signature": `${signed["webhook-signature"]} ${otherSigned["webhook-signature"]}`,
};
const severalSignatures = `v1a,x ${otherSigned["webhook-signature"]} ${signed["webhook-signature"]}`;

test.each<[string, DeliveryHeaders, string | Uint8Array]>([
  ["a plain record", signed, body],
  ["names in any case", Object.fromEntries(Object.entries(signed).map(([n, v]) => [n.toUpperCase(), v])), body],
  ["a Headers object", new Headers(signed), body],
  ["lists of one value, as some servers give", { ...signed, "webhook-id": [deliveryId] }, body],
  ["a body of bytes", signed, new TextEncoder().encode(body)],
  ["a body in a Buffer", signed, Buffer.from(body)],
  ["X-Svc-Signature alone", without(signed, ...standardHeaders), body],
  ["the Standard Webhooks headers alone", without(signed, "x-svc-signature", "x-svc-delivery-id"), body],
  ["one right signature among several", { ...signed, "webhook-signature": severalSignatures }, body],
  ["an attempt 300 s old", sign(body, { atMs: nowMs - 300_000 }), body],
  ["an attempt 300 s ahead", sign(body, { atMs: nowMs + 300_000 }), body],
])("a delivery verifies from %s", async (_, headers, text) => {
  expect(await verify(headers, text)).toEqual({ ...event, deliveryId });
});

test("during a rotation, the new and the former secret verify by either kind of signature, and no other does", async () => {
  for (const headers of [rotating, without(rotating, ...standardHeaders), without(rotating, "x-svc-signature")]) {
    expect(await verify(headers)).toMatchObject({ deliveryId });
  }
  expect(await verify(rotating, body, otherSecret)).toMatchObject({ deliveryId });
  expect(await verify(without(rotating, ...standardHeaders), body, otherSecret)).toMatchObject({ deliveryId });
  const third = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
  expect(await reasonOf(verify(rotating, body, third))).toBe("signature_mismatch");
  const forged = { ...rotating, "x-svc-signature-next": otherSigned["x-svc-signature"] };
  expect(await reasonOf(verify(forged))).toBe("signature_mismatch");
});

test.each<[string, DeliveryHeaders]>([
  ["an empty X-Svc-Signature alone", { "x-svc-signature": "", "x-svc-delivery-id": deliveryId }],
  ["another secret's signatures", otherSigned],
  ["a forged X-Svc-Signature beside right ones", { ...signed, "x-svc-signature": otherSigned["x-svc-signature"] }],
  ["a truncated X-Svc-Signature", { ...signed, "x-svc-signature": signed["x-svc-signature"]?.slice(0, -2) }],
  ["a forged webhook-signature", { ...signed, "webhook-signature": otherSigned["webhook-signature"] }],
  ["an empty webhook-signature", { ...signed, "webhook-signature": "" }],
  ["a version other than v1", { ...signed, "webhook-signature": signed["webhook-signature"]?.replace("v1", "v2") }],
  ["a header sent twice", { ...signed, "X-Svc-Signature": signed["x-svc-signature"] }],
  ["another time than signed", { ...signed, "webhook-timestamp": String(nowMs / 1000 + 1) }],
  ["the signatures of another body", sign(`${body} `)],
  ["the signatures of an empty body", sign("")],
])("a delivery does not verify with %s", async (_, headers) => {
  expect(await reasonOf(verify(headers))).toBe("signature_mismatch");
});

test.each<[string, DeliveryHeaders, string]>([
  ["no header", {}, "headers_missing"],
  ["no delivery id", { "x-svc-signature": signed["x-svc-signature"] }, "headers_missing"],
  ["webhook-id missing beside the others", without(signed, "webhook-id"), "headers_missing"],
  ["webhook-timestamp missing beside the others", without(signed, "webhook-timestamp"), "headers_missing"],
  ["webhook-signature missing beside the others", without(signed, "webhook-signature"), "headers_missing"],
  ["two ids", { ...signed, "x-svc-delivery-id": "dlv_other" }, "delivery_id_mismatch"],
  ["a time in milliseconds", { ...signed, "webhook-timestamp": String(nowMs) }, "timestamp_invalid"],
  ["an attempt 301 s old", sign(body, { atMs: nowMs - 301_000 }), "timestamp_out_of_tolerance"],
  ["an attempt 301 s ahead", sign(body, { atMs: nowMs + 301_000 }), "timestamp_out_of_tolerance"],
])("a delivery is refused with %s", async (_, headers, reason) => {
  expect(await reasonOf(verify(headers))).toBe(reason);
});

test.each([
  ["is no JSON", "hello"],
  ["is not UTF-8", Buffer.of(0x22, 0xff, 0x22)],
  ["is of another type", body.replace('"type":"event"', '"type":"other"')],
  ["lacks its fields", '{"type":"event"}'],
  ["has a list for a payload", body.replace(/"payload":\{.*\}\}/, '"payload":[]}')],
])("a body that is signed and %s is refused", async (_, text) => {
  expect(await reasonOf(verify(sign(text), text))).toBe("body_invalid");
});

test.each(["", secret.slice(0, 20), secret.replace("whsec_", ""), `${secret}=`])("%j is no secret", async (key) => {
  expect(await reasonOf(verify(signed, body, key))).toBe("secret_invalid");
});

test("a body that a framework has parsed already is refused by name", async () => {
  const parsed: unknown = event;
  expect(await reasonOf(verify(signed, parsed as string))).toBe("body_invalid");
});

test("a tolerance that is no number refuses everything", async () => {
  const options = { toleranceSeconds: Number.NaN, now: () => nowMs };
  expect(await reasonOf(verifyDelivery(signed, body, secret, options))).toBe("timestamp_out_of_tolerance");
});

test("a test delivery is told apart by its type", async () => {
  const text = JSON.stringify({ ...event, type: "test", toolkitSlug: "", triggerSlug: "", payload: {} });
  const delivery = await verify(sign(text), text);
  expect(delivery.type).toBe("test");
  expectTypeOf<VerifiedDelivery["type"]>().toEqualTypeOf<"event" | "test" | "ask_raised">();
  if (delivery.type === "event") expectTypeOf(delivery.payload).toEqualTypeOf<Record<string, unknown>>();
});

test("a published ask is told apart by its type and read as a message", async () => {
  const ask = { pointId: "many", requestId: "ask_1", askedAt: "2025-10-09T08:53:20Z", continuations: ["proceed"] };
  const text = JSON.stringify({ id: event.id, type: "ask_raised", jobId: "job_1", ask: { ...ask, added: "later" } });
  const delivery = await verify(sign(text), text);
  expect(delivery).toMatchObject({
    type: "ask_raised",
    deliveryId,
    jobId: "job_1",
    ask: { pointId: "many", requestId: "ask_1" },
  });
  for (const broken of [{ ask: 3 }, { jobId: 7 }, { ask: { hopIndex: "x" } }]) {
    const wrong = JSON.stringify({ id: event.id, type: "ask_raised", jobId: "job_1", ask, ...broken });
    expect(await reasonOf(verify(sign(wrong), wrong))).toBe("body_invalid");
  }
});

test("the public Standard Webhooks library and this one accept each other's world", async () => {
  const webhook = new Webhook(secret);
  const presentMs = machineClock.now();
  const made = sign(body, { atMs: presentMs });
  expect(webhook.verify(body, made)).toEqual(event);
  const theirs = {
    "webhook-id": deliveryId,
    "webhook-timestamp": String(Math.floor(presentMs / 1000)),
    "webhook-signature": webhook.sign(deliveryId, new Date(presentMs), body),
  };
  expect(await verifyDelivery(theirs, body, secret)).toEqual({ ...event, deliveryId });
});

test("any text that is signed as a payload arrives as it was", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), async (payload) => {
      const text = JSON.stringify({ ...event, payload });
      const delivery = await verify(sign(text), Buffer.from(text));
      const { payload: expected } = JSON.parse(text, (_, value: unknown, context?: { source?: string }) => {
        const isLong = typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
        return isLong && /^-?\d+$/.test(context?.source ?? "") ? context?.source : value;
      }) as { payload: unknown };
      expect("payload" in delivery && delivery.payload).toEqual(expected);
    }),
  );
});

test("a number that no double is exactly arrives as the text of its digits, and every other as a number", async () => {
  const text = JSON.stringify({
    ...event,
    payload: { numbers: "…", quoted: 'say "1e-400", 0.1234567890123456789' },
  }).replace(
    '"…"',
    "[9007199254740993,-12345678901234567890,0.1234567890123456789,1e-400,1E400,100000000000000000000,0.1,1E2,-0.5,12,1.0]",
  );
  const delivery = await verify(sign(text), Buffer.from(text));
  expect("payload" in delivery && delivery.payload).toEqual({
    numbers: [
      ...["9007199254740993", "-12345678901234567890", "0.1234567890123456789", "1e-400", "1E400"],
      ...["100000000000000000000", 0.1, 100, -0.5, 12, 1],
    ],
    quoted: 'say "1e-400", 0.1234567890123456789',
  });
});

test("any bit flipped in the body is refused", async () => {
  const bytes = Buffer.from(body);
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async (bit) => {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(await reasonOf(verify(signed, flipped))).toBe("signature_mismatch");
    }),
    { numRuns: 300 },
  );
});

test("any character changed in a header is refused, whichever signature it belongs to", async () => {
  const standardOnly = without(signed, "x-svc-signature", "x-svc-delivery-id");
  const bodyOnly = without(signed, ...standardHeaders);
  const places = [
    ...Object.keys(signed).map((name) => ({ headers: signed, name })),
    ...standardHeaders.map((name) => ({ headers: standardOnly, name })),
    // The header X-Svc-Signature covers only the body, not the delivery id.
    { headers: bodyOnly, name: "x-svc-signature" },
  ].map(({ headers, name }) => ({ headers, name, value: headers[name] ?? "" }));
  const change = fc.constantFrom(...places).chain((place) =>
    fc.record({
      place: fc.constant(place),
      at: fc.nat(place.value.length - 1),
      character: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    }),
  );
  await fc.assert(
    fc.asyncProperty(change, async ({ place: { headers, name, value }, at, character }) => {
      fc.pre(value[at] !== character);
      const changed = value.slice(0, at) + character + value.slice(at + 1);
      expect(await reasonOf(verify({ ...headers, [name]: changed }))).not.toBe("accepted");
    }),
    { numRuns: 1000 },
  );
});
