import fc from "fast-check";
import { expect, test } from "vitest";
import { createSealer, generateVaultKey, parseVaultKeys } from "../crypto/seal.ts";
import { Fault } from "../faults/errors.ts";
import { openPageToken, type PageScope, pageSizeOf, sealPageToken } from "./page-token.ts";

const oldKeys = parseVaultKeys(generateVaultKey());
const newKeys = parseVaultKeys(generateVaultKey());
const sealer = createSealer(oldKeys);
const scope: PageScope = {
  call: "svc.v1.TriggersService/ListEvents",
  projectId: "prj_1",
  filters: { toolkitSlug: "calendar", since: 5 },
};

function expectRefused(open: () => string) {
  try {
    open();
  } catch (err) {
    const detail = { reason: "PAGE_TOKEN_INVALID", field: "pageToken" };
    expect(err).toMatchObject({ code: "invalid_argument", details: [detail] });
    return;
  }
  throw new Error("the token was accepted");
}

const filters = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string())));
const scopes = fc.record({ call: fc.string(), projectId: fc.string(), filters });

test("a token opens for its scope with its position, and for no other scope", () => {
  const position = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(scopes, scopes, position, (own, other, text) => {
      const token = sealPageToken(sealer, own, text);
      expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(openPageToken(sealer, own, token)).toBe(text);
      fc.pre(JSON.stringify(own) !== JSON.stringify(other));
      for (const changed of [
        { ...own, call: `${own.call}x` },
        { ...own, projectId: `${own.projectId}x` },
        { ...own, filters: { ...own.filters, added: "x" } },
      ]) {
        expectRefused(() => openPageToken(sealer, changed, token));
      }
    }),
  );
});

test("any changed character is refused", () => {
  const token = sealPageToken(sealer, scope, "2026-01-05T09:00:00Z evt_1");
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= ";
  const index = fc.nat({ max: token.length - 1 });
  fc.assert(
    fc.property(index, fc.constantFrom(...alphabet), (at, character) => {
      fc.pre(token[at] !== character);
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      expectRefused(() => openPageToken(sealer, scope, changed));
    }),
    { numRuns: 1000 },
  );
});

test("text that was never a token is refused", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expectRefused(() => openPageToken(sealer, scope, text));
    }),
  );
});

test("the order of filters does not matter, and an undefined filter is an absent one", () => {
  const token = sealPageToken(sealer, scope, "p");
  const same = { ...scope, filters: { until: undefined, since: 5, toolkitSlug: "calendar" } };
  expect(openPageToken(sealer, same, token)).toBe("p");
});

test("a token outlives a rotation of the vault key, and does not open under a foreign one", () => {
  const token = sealPageToken(sealer, scope, "p");
  expect(openPageToken(createSealer([...newKeys, ...oldKeys]), scope, token)).toBe("p");
  expectRefused(() => openPageToken(createSealer(newKeys), scope, token));
});

test("a page token is not a sealed secret: the vault's own key does not open it", () => {
  const token = sealPageToken(sealer, scope, "p");
  expect(() => sealer.open(Buffer.from(token, "base64url"), "")).toThrow();
});

test.each([
  [0, undefined, 50],
  [1, undefined, 1],
  [500, undefined, 500],
  [501, undefined, 500],
  [0, { fallback: 1000, max: 1000 }, 1000],
  [2_147_483_647, { max: 1000 }, 1000],
])("page size %i within %j is %i", (requested, bounds, size) => {
  expect(pageSizeOf(requested, bounds)).toBe(size);
});

test("a negative page size is refused by name", () => {
  expect(() => pageSizeOf(-1)).toThrow(Fault);
  expect(() => pageSizeOf(-1)).toThrow("pageSize -1 is negative");
});
