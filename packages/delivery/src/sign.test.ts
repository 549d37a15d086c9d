import { createHmac } from "node:crypto";
import { generateSigningSecret } from "@svc/core";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { createSigningKeys } from "./endpoint.ts";
import { signedHeaders } from "./sender.ts";

const secret = generateSigningSecret();
const keys = createSigningKeys(secret);
const id = "dlv_01kdze8c00fjhs3ebqh1mqzw2a";

function headersOf(body: Buffer, atMs = Date.now()): Record<string, string> {
  const flat = signedHeaders(keys, id, body, atMs);
  return Object.fromEntries(Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]));
}

test("the public Standard Webhooks library verifies what is signed, and nothing else", () => {
  const body = Buffer.from('{"a":"ü\\u0000"}', "utf8");
  const headers = headersOf(body);
  expect(new Webhook(secret).verify(body.toString("utf8"), headers)).toEqual({ a: "ü\0" });
  expect(() => new Webhook(generateSigningSecret()).verify(body.toString("utf8"), headers)).toThrow();
  expect(() => new Webhook(secret).verify(`${body.toString("utf8")} `, headers)).toThrow();
  expect(() => new Webhook(secret).verify(body.toString("utf8"), { ...headers, "webhook-id": "dlv_x" })).toThrow();
  const old = headersOf(body, Date.now() - 6 * 60_000);
  expect(() => new Webhook(secret).verify(body.toString("utf8"), old)).toThrow(/timestamp/);
});

test("X-Svc-Signature is the HMAC-SHA256 of the exact bytes under the secret's text", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const body = Buffer.from(bytes);
      const expected = createHmac("sha256", Buffer.from(secret, "utf8")).update(body).digest("hex");
      expect(headersOf(body)["X-Svc-Signature"]).toBe(`sha256=${expected}`);
    }),
  );
});

test("a delivery's id is told in both ways, with the time in whole seconds", () => {
  const headers = headersOf(Buffer.alloc(0), 1_767_603_600_999);
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "X-Svc-Delivery-Id": id,
    "webhook-id": id,
    "webhook-timestamp": "1767603600",
  });
});

test("a text that is no signing secret is refused without being shown", () => {
  expect(() => createSigningKeys("whsec_tooshort")).toThrow(/whsec_ and 24 to 64 bytes/);
  expect(() => createSigningKeys("whsec_tooshort")).not.toThrow(/tooshort/);
});
