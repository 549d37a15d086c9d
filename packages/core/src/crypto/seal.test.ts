import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSealer, generateVaultKey, parseVaultKeys, SealError } from "./seal.ts";

const [oldKey, newKey] = parseVaultKeys(
  `old:${randomBytes(32).toString("base64")} new:${randomBytes(32).toString("base64")}`,
);
if (oldKey === undefined || newKey === undefined) throw new Error("two keys expected");

test("what is sealed opens in its own context only", () => {
  const sealer = createSealer([oldKey]);
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(bytes, fc.string(), fc.string(), (plaintext, context, other) => {
      const sealed = sealer.seal(plaintext, context);
      expect(sealer.open(sealed, context)).toEqual(Buffer.from(plaintext));
      if (other !== context) expect(() => sealer.open(sealed, other)).toThrow(SealError);
    }),
  );
});

test("any changed, missing or added byte is refused", () => {
  const sealer = createSealer([oldKey, newKey]);
  const sealed = sealer.seal(Buffer.from("signing secret"), "prj/subscriptions/sub");
  const position = fc.nat({ max: sealed.length - 1 });
  fc.assert(
    fc.property(position, fc.integer({ min: 1, max: 255 }), (index, flip) => {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ flip;
      for (const value of [changed, sealed.subarray(0, index), Buffer.concat([sealed, changed])]) {
        expect(() => sealer.open(value, "prj/subscriptions/sub")).toThrow(SealError);
      }
    }),
  );
});

test("sealing twice gives two values, and neither shows the content", () => {
  const sealer = createSealer([oldKey]);
  const [first, second] = [sealer.seal(Buffer.from("content"), "c"), sealer.seal(Buffer.from("content"), "c")];
  expect(first.equals(second)).toBe(false);
  expect(first.includes("content")).toBe(false);
});

test("after a rotation the new key seals and the old one still opens", () => {
  const before = createSealer([oldKey]);
  const after = createSealer([newKey, oldKey]);
  const sealed = before.seal(Buffer.from("kept"), "c");
  expect(after.open(sealed, "c").toString()).toBe("kept");
  expect(() => before.open(after.seal(Buffer.from("x"), "c"), "c")).toThrow(
    'sealed value names vault key "new", which is not among the configured keys',
  );
});

test("a value of another version or without a body is refused", () => {
  const sealer = createSealer([oldKey]);
  const sealed = sealer.seal(Buffer.from("x"), "c");
  sealed[0] = 2;
  expect(() => sealer.open(sealed, "c")).toThrow("sealed value has version 2; this service reads 1");
  expect(() => sealer.open(new Uint8Array(0), "c")).toThrow("too short: 0 bytes");
});

test("subkeys are stable, differ by purpose and key, and start with the first key's", () => {
  const sealer = createSealer([newKey, oldKey]);
  expect(sealer.subkey("a")).toEqual(createSealer([newKey]).subkey("a"));
  expect(sealer.subkey("a")).toHaveLength(32);
  expect(sealer.subkey("a")).not.toEqual(sealer.subkey("b"));
  expect(sealer.subkeys("a").map(({ id }) => id)).toEqual(["new", "old"]);
  expect(sealer.subkeys("a")[0]?.secret).toEqual(sealer.subkey("a"));
  expect(sealer.subkeys("a")[1]?.secret).toEqual(createSealer([oldKey]).subkey("a"));
});

test("a generated key is read back", () => {
  const text = generateVaultKey();
  const [key] = parseVaultKeys(` ${text}\n`);
  expect(`${key?.id}:${key?.secret.toString("base64")}`).toBe(text);
});

const good = "A".repeat(43);
test.each([
  ["", "none given"],
  ["nocolon", "vault key 1: has no colon"],
  [`a:${good}= B:${good}=`, 'vault key 2: the id must be 1 to 32 characters of a-z, 0-9, "_" and "-"'],
  [`:${good}=`, "vault key 1: the id must be"],
  [
    "a:AAAA",
    "vault key 1 (a): expected 32 bytes as 44 characters of standard base64, got 4 characters that decode to 3 bytes",
  ],
  [`a:${good}= a:${good}=`, 'vault keys: id "a" is given twice'],
])("a faulty key list is refused by place: %s", (text, message) => {
  expect(() => parseVaultKeys(text)).toThrow(message);
});

test("no complaint about a key list repeats a secret", () => {
  const secret = randomBytes(32).toString("base64");
  const halves = [`${secret}:main`, `main${secret}`, `main:${secret.slice(0, 40)}`, `main:${secret}x`];
  for (const text of halves) {
    expect(() => parseVaultKeys(text)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining(secret.slice(0, 12)) }),
    );
  }
});

test("a sealer without a key, or with a short one, cannot be made", () => {
  expect(() => createSealer([])).toThrow("no vault key");
  expect(() => createSealer([{ id: "a", secret: Buffer.alloc(16) }])).toThrow("not 32 bytes");
});
