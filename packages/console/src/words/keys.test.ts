import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { keyStateWord } from "./keys.ts";

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
