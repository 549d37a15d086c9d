import { createHash } from "node:crypto";
import { createSealer, type ProjectId } from "@svc/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { deskAction } from "../test-toolkits.ts";
import { createDigestKeys, deriveKey, digestCall, takesKey, withKeyArgument, withKeyHeader } from "./idempotency.ts";

const key = createHash("sha256").update("k").digest("hex");
const request = { method: "POST", url: "https://a.example/", headers: { accept: "x" }, body: undefined };
const digest = digestCall({ toolSlug: "t", account: "a", args: {} });

test("the key stands where the definition says, cut to what the app takes; the caller's own value wins", () => {
  const [byArgument, byHeader, none] = [deskAction("pay"), deskAction("charge"), deskAction("add_note")];
  expect([byArgument, byHeader, none].map(takesKey)).toEqual([true, true, false]);
  expect(withKeyArgument(byArgument, { id: "a" }, key)).toEqual({ id: "a", key: key.slice(0, 20) });
  expect(withKeyArgument(byArgument, { id: "a", key: "mine" }, key)).toEqual({ id: "a", key: "mine" });
  expect(withKeyArgument(byHeader, { id: "a" }, key)).toEqual({ id: "a" });
  expect(withKeyHeader(byHeader, request, key).headers).toEqual({ accept: "x", "idempotency-key": key.slice(0, 40) });
  const own = { ...request, headers: { "idempotency-key": "mine" } };
  expect(withKeyHeader(byHeader, own, key)).toBe(own);
  expect(withKeyHeader(none, request, key)).toBe(request);
  const uuid = { ...byHeader, idempotency: { header: "Idempotency-Key", format: "uuid" as const } };
  const sent = (text: string) => withKeyHeader(uuid, request, text).headers["idempotency-key"];
  expect(sent(key)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect([sent(key), sent("other") === sent(key)]).toEqual([sent(key), false]);
  const declared = deskAction("pay", { idempotency: { argument: "key", maxLength: 8 } });
  expect(withKeyArgument(declared, {}, key)).toEqual({ key: key.slice(0, 8) });
});

test("the app's key is the same for a repeat, and another for another project, key or call", () => {
  const other = digestCall({ toolSlug: "t", account: "a", args: { a: 1 } });
  const keys = [
    deriveKey("p", "k", digest),
    deriveKey("q", "k", digest),
    deriveKey("p", "l", digest),
    deriveKey("p", "k", other),
  ];
  expect(deriveKey("p", "k", digest)).toBe(keys[0]);
  expect(new Set(keys).size).toBe(4);
  expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
});

test("a stored digest reveals nothing without the vault's keys, and differs by project", () => {
  const [one, two] = [1, 2].map((byte) => ({ id: `k${byte}`, secret: Buffer.alloc(32, byte) }));
  const [p, q] = ["prj_p", "prj_q"] as [ProjectId, ProjectId];
  const keys = createDigestKeys(createSealer([one!]));
  const kept = keys.protect(p, digest);
  expect(kept).toHaveLength(32);
  const others = [digest, createHash("sha256").update(p).update(digest).digest(), keys.protect(q, digest)];
  expect(others.some((other) => other.equals(kept))).toBe(false);
  expect([keys.isOf(p, digest, kept), keys.isOf(q, digest, kept)]).toEqual([true, false]);
  expect(createDigestKeys(createSealer([two!, one!])).isOf(p, digest, kept)).toBe(true);
  expect(createDigestKeys(createSealer([two!])).isOf(p, digest, kept)).toBe(false);
});

test("a digest ignores confirm and the order of keys, at every depth", () => {
  const reversed = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(reversed);
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, child]) => [name, reversed(child)]),
    );
  };
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
      const { confirm: _confirm, ...rest } = args;
      const one = digestCall({ toolSlug: "t", account: "a", args: { ...rest, confirm: true } });
      const other = digestCall({ toolSlug: "t", account: "a", args: reversed(rest) as Record<string, unknown> });
      expect(one.equals(other)).toBe(true);
    }),
  );
});

test("a digest tells tools, accounts, arguments and the order of lists apart", () => {
  const parts = { toolSlug: "t", account: "a", args: { x: [1, 2] } };
  const others = [
    { ...parts, toolSlug: "u" },
    { ...parts, account: "b" },
    { ...parts, args: { x: [2, 1] } },
    { ...parts, args: { x: ["1", 2] } },
  ];
  const digests = [parts, ...others].map((part) => digestCall(part).toString("hex"));
  expect(new Set(digests).size).toBe(5);
});
