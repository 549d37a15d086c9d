import { digestSecret, systemClock } from "@svc/core";
import { createTestDatabase } from "@svc/db/testing";
import { expect, onTestFinished, test } from "vitest";
import { StoreLateError } from "../store-deadline.ts";
import { createKeyCache } from "./key-cache.ts";

test("a lookup that the store leaves open rejects at the deadline, and the next one asks anew", async () => {
  const { db, drop } = await createTestDatabase();
  onTestFinished(drop);
  const keys = createKeyCache({ db, clock: systemClock, deadlineMs: 200 });
  await db.sql.begin(async (tx) => {
    await tx`lock table api_keys in access exclusive mode`;
    await expect(keys.find(digestSecret("a key"))).rejects.toThrow(StoreLateError);
  });
  expect(await keys.find(digestSecret("a key"))).toBeUndefined();
});
