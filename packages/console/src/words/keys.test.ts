import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { boundText, keyStateWord } from "./keys.ts";

test("a key is valid until it is revoked or its time is over", () => {
  const of = (key: { revokedAt?: number; expiresAt?: number }) =>
    keyStateWord(
      {
        ...(key.revokedAt !== undefined && { revokedAt: timestampFromMs(key.revokedAt) }),
        ...(key.expiresAt !== undefined && { expiresAt: timestampFromMs(key.expiresAt) }),
      },
      1_000,
    ).word;
  expect(of({})).toBe("valid");
  expect(of({ expiresAt: 1_001 })).toBe("valid");
  expect(of({ expiresAt: 1_000 })).toBe("expired");
  expect(of({ expiresAt: 1_000, revokedAt: 1 })).toBe("revoked");
});

test("a key says what it is bound to, and nothing where it is bound to nothing", () => {
  const bound = (entityId: string, accessClasses: string[] = [], toolkitSlugs: string[] = []) =>
    boundText({ entityId, accessClasses, toolkitSlugs });
  expect(bound("")).toBeUndefined();
  expect(bound("ada")).toBe("ada alone");
  expect(bound("ada", ["read", "write"], ["calendar"])).toBe("ada alone, read and write tools of calendar");
  expect(bound("", [], ["calendar", "notes_wiki"])).toBe("tools of calendar, notes_wiki");
});
