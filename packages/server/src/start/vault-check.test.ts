import { createSealer, generateVaultKey, parseVaultKeys } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { expect, test } from "vitest";
import { checkVault } from "./vault-check.ts";

const sealerOf = (...keys: string[]) => createSealer(parseVaultKeys(keys.join(" ")));

test("a node with another vault key is refused, one that kept the old key behind the new is not", async () => {
  const { db, drop } = await createTestDatabase();
  const [first, second] = [generateVaultKey(), generateVaultKey()];
  await checkVault(db, sealerOf(first));
  await checkVault(db, sealerOf(first));
  await checkVault(db, sealerOf(second, first));
  await expect(checkVault(db, sealerOf(second))).rejects.toThrow(/SVC_VAULT_KEY.*sealed with another key/s);
  await drop();
});
