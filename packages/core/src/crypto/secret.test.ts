import { createHash } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import {
  digestSecret,
  equalConstantTime,
  generateApiKey,
  generateSigningSecret,
  generateToken,
  isWellFormedApiKey,
  signingSecretBytes,
} from "./secret.ts";

test("generated keys are well formed and differ", () => {
  const keys = Array.from({ length: 100 }, generateApiKey);
  for (const key of keys) {
    expect(key).toMatch(/^svc_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
    expect(isWellFormedApiKey(key)).toBe(true);
  }
  expect(new Set(keys).size).toBe(keys.length);
});

test("one mistyped character is noticed", () => {
  const key = generateApiKey();
  const index = fc.nat({ max: key.length - 1 });
  const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  fc.assert(
    fc.property(index, fc.constantFrom(...base62), (at, character) => {
      fc.pre(key[at] !== character);
      expect(isWellFormedApiKey(key.slice(0, at) + character + key.slice(at + 1))).toBe(false);
    }),
  );
});

test.each(["", "svc_", "a bootstrap key of an operator's own making"])("%j is not of the generated form", (text) => {
  expect(isWellFormedApiKey(text)).toBe(false);
});

test("a digest is SHA-256 of the UTF-8 text", () => {
  expect(digestSecret("clé")).toEqual(createHash("sha256").update(Buffer.from("clé")).digest());
});

test("comparison is true only for equal content, for all lengths and forms", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(equalConstantTime(a, b)).toBe(Buffer.from(a).equals(Buffer.from(b)));
      expect(equalConstantTime(a, Buffer.from(a))).toBe(true);
    }),
  );
});

test("a signing secret is accepted by a public Standard Webhooks library, and gives 32 bytes", () => {
  const secret = generateSigningSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(signingSecretBytes(secret)).toHaveLength(32);
  expect(() => new Webhook(secret)).not.toThrow();
});

test.each(["", "whsec_", "whsec_c2hvcnQ=", "secret"])("%j is no signing secret, and is not repeated", (text) => {
  expect(() => signingSecretBytes(text)).toThrow(`signing secret of ${text.length} characters`);
});

test("tokens are 32 bytes in characters that URLs take, and differ", () => {
  const tokens = Array.from({ length: 100 }, generateToken);
  for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(new Set(tokens).size).toBe(tokens.length);
});
