import { createSealer } from "@svc/core";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { createDeploymentSecrets, isDeploymentSecretName, isDeploymentSecretValue } from "./deployment-secrets.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
const sealerOf = (byte: number) => createSealer([{ id: "a", secret: Buffer.alloc(32, byte) }]);

test("a secret of the deployment is sealed for its name, listed without its value, and had at once where it was put and soon elsewhere", async () => {
  const clock = createTestClock();
  const [here, elsewhere] = [1, 1].map((byte) => createDeploymentSecrets({ db, clock, sealer: sealerOf(byte) }));
  expect(await Promise.all([here?.find("embeddings_key"), elsewhere?.find("embeddings_key")])).toEqual([
    undefined,
    undefined,
  ]);
  const first = await here?.put("embeddings_key", "marker-of-the-first");
  expect(await here?.find("embeddings_key")).toBe("marker-of-the-first");
  expect(await elsewhere?.find("embeddings_key")).toBeUndefined();
  clock.advance(5_000);
  expect(await elsewhere?.find("embeddings_key")).toBe("marker-of-the-first");
  const second = await here?.put("embeddings_key", "marker-of-the-second");
  expect(second).toEqual({ name: "embeddings_key", createdAt: first?.createdAt, updatedAt: clock.now() });
  expect(await here?.list()).toEqual([second]);
  const rows = await db.sql`select encode(value, 'escape') as value from deployment_secrets`;
  expect(rows).toHaveLength(1);
  expect(String(rows[0]?.["value"])).not.toContain("marker");
  expect(await here?.delete("embeddings_key")).toBe(true);
  expect(await here?.delete("embeddings_key")).toBe(false);
  expect(await here?.find("embeddings_key")).toBeUndefined();
});

test("what does not open is told, and not kept: another look may find it well", async () => {
  const clock = createTestClock();
  await createDeploymentSecrets({ db, clock, sealer: sealerOf(1) }).put("embeddings_key", "sealed-with-one");
  const other = createDeploymentSecrets({ db, clock, sealer: sealerOf(2) });
  await expect(other.find("embeddings_key")).rejects.toThrow("cannot be decrypted");
  await createDeploymentSecrets({ db, clock, sealer: sealerOf(2) }).put("embeddings_key", "sealed-with-two");
  expect(await other.find("embeddings_key")).toBe("sealed-with-two");
});

test("a name is one of a list, and a value is what a header holds", () => {
  expect(["embeddings_key", "billing_token", ""].map(isDeploymentSecretName)).toEqual([true, false, false]);
  const values = [
    "12345678",
    "1234567",
    "x".repeat(8_192),
    "x".repeat(8_193),
    "with space",
    "line\nend-of",
    "schön-e-taste",
  ];
  expect(values.map(isDeploymentSecretValue)).toEqual([true, false, true, false, false, false, false]);
});
