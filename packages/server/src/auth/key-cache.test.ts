import { createId, digestSecret, systemClock } from "@svc/core";
import { createApiKey, revokeApiKey } from "@svc/db/keys/repo";
import { createProject } from "@svc/db/projects/repo";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { expect, onTestFinished, test } from "vitest";
import { StoreLateError } from "../store-deadline.ts";
import { createKeyCache } from "./key-cache.ts";

test("a lookup without an answer rejects at the deadline, and the next one asks again", async () => {
  const { db, drop } = await createTestDatabase();
  onTestFinished(drop);
  const keys = createKeyCache({ db, clock: systemClock, deadlineMs: 200 });
  await db.sql.begin(async (tx) => {
    await tx`lock table api_keys in access exclusive mode`;
    await expect(keys.find(digestSecret("a key"))).rejects.toThrow(StoreLateError);
  });
  expect(await keys.find(digestSecret("a key"))).toBeUndefined();
});

test("a key that another node revokes is served for a second from when it was read, and no longer", async () => {
  const { db, drop } = await createTestDatabase();
  onTestFinished(drop);
  const clock = createTestClock();
  const { id: projectId } = await createProject(db, "default", clock.now());
  const [id, digest] = [createId("key", clock.now()), digestSecret("a key")];
  const key = { id, projectId, role: "member", name: "", hint: "", digest, createdAt: clock.now() } as const;
  await createApiKey(db, { ...key, expiresAt: null, revokedAt: null, lastUsedAt: null });
  const keys = createKeyCache({ db, clock });
  expect(await keys.find(digest)).toMatchObject({ id, revokedAt: null });
  await revokeApiKey(db, id, clock.now());
  clock.advance(999);
  expect(await keys.find(digest)).toMatchObject({ id, revokedAt: null });
  clock.advance(1);
  expect(await keys.find(digest)).toMatchObject({ id, revokedAt: clock.now() - 1_000 });
});
