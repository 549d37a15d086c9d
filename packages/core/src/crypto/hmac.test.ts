import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createHmacKey, hmacSha256, isHmacSha256 } from "./hmac.ts";

const bytes = fc.uint8Array({ maxLength: 300 });

test("digests equal those of the runtime, for any key and message", () => {
  fc.assert(
    fc.property(bytes, fc.array(bytes, { maxLength: 3 }), fc.string({ unit: "grapheme-ascii" }), (key, parts, text) => {
      const all = [text, ...parts];
      const own = createHmacKey(key);
      for (const encoding of ["hex", "base64"] as const) {
        expect(hmacSha256(own, all, encoding)).toBe(
          all.reduce((hmac, part) => hmac.update(part), createHmac("sha256", key)).digest(encoding),
        );
      }
    }),
  );
});

test("a key's text is UTF-8, and one of more than a block is hashed", () => {
  for (const key of ["", "kéy ☃", "k".repeat(64), "k".repeat(65)]) {
    expect(hmacSha256(createHmacKey(key), ["m"], "hex")).toBe(createHmac("sha256", key).update("m").digest("hex"));
  }
});

test.each([65_535, 65_536, 65_537, 1_000_000])("a message of %i bytes", (length) => {
  const message = Buffer.alloc(length, "abc");
  const expected = createHmac("sha256", "key").update(message).digest("hex");
  expect(hmacSha256(createHmacKey("key"), [message], "hex")).toBe(expected);
  expect(hmacSha256(createHmacKey("key"), [message.subarray(0, 9), message.subarray(9)], "hex")).toBe(expected);
});

test("a digest does not influence the next one", () => {
  const key = createHmacKey("key");
  const other = createHmacKey("other");
  const first = hmacSha256(key, ["a long message that is longer than the next"], "hex");
  expect(hmacSha256(other, ["short"], "hex")).toBe(createHmac("sha256", "other").update("short").digest("hex"));
  expect(hmacSha256(key, ["a long message that is longer than the next"], "hex")).toBe(first);
});

test("a digest is recognized in its encoding, and nothing else is", () => {
  const key = createHmacKey("key");
  const hex = hmacSha256(key, ["message"], "hex");
  const base64 = hmacSha256(key, ["message"], "base64");
  const is = (given: string, encoding: "hex" | "base64") => isHmacSha256(given, key, ["message"], encoding);
  expect([is(hex, "hex"), is(hex.toUpperCase(), "hex"), is(base64, "base64")]).toEqual([true, true, true]);
  const last = hex.endsWith("0") ? "1" : "0";
  for (const wrong of [
    "",
    hex.slice(1),
    `${hex}0`,
    ` ${hex}`,
    base64,
    `${hex.slice(0, -1)}${last}`,
    `${last}${hex.slice(1)}`,
  ]) {
    if (wrong !== hex) expect(is(wrong, "hex"), wrong).toBe(false);
  }
  for (const wrong of ["", hex, base64.slice(0, -1), `${base64.slice(0, -2)}/=`, `${base64}\n`, base64.toLowerCase()]) {
    expect(is(wrong, "base64"), wrong).toBe(false);
  }
});
