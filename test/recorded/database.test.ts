import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createId, generateVaultKey, parseVaultKeys, systemClock } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { findVaultRotation } from "@svc/db/vault/rotations";
import { createLogger } from "@svc/server";
import { openVault } from "@svc/server/vault";
import { call, type ServerProcess, until } from "@svc/testing/server-process";
import { type Subscriber, startSubscriber } from "@svc/testing/subscriber";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listFiles, root } from "../source.ts";
import { answeredThen, type DatabaseRecording, movedStore } from "./database-recording.ts";
import { endOnService, jobsOf } from "./drive-service.ts";
import { createLevel, type Level, type LevelDatabase } from "./level.ts";
import { administrator, startServiceUnderTest } from "./service-under-test.ts";
import { writeStore } from "./store.ts";

// Starts the service of today on what a deployment of a released version held when its node was killed in the middle of work.

const recordings = listFiles("test/recorded")
  .filter((path) => /^test\/recorded\/[0-9.]+\/database\.json$/.test(path))
  .map((path) => JSON.parse(readFileSync(join(root, path), "utf8")) as DatabaseRecording);

describe.each(recordings)("version $version", (recording) => {
  const { keys, vaultKey, underWay, pendingDeliveries, signingSecrets } = recording;
  const then = { nowMs: Date.parse(recording.takenAt), receivers: recording.receivers };
  let level: Level;
  let database: LevelDatabase;
  let service: ServerProcess;
  let receivers: readonly Subscriber[];
  let now: Parameters<typeof movedStore>[2];

  beforeAll(async () => {
    level = await createLevel(recording.migration);
    database = await level.create();
    receivers = [await startSubscriber(), await startSubscriber()];
    const [good = "", bad = ""] = receivers.map(({ url }) => new URL(url).origin);
    now = { nowMs: Date.now(), receivers: { good, bad } };
    await writeStore(database.db, level.tables, movedStore(recording, level.tables, now));
    // The first to start brings the database to the present schema. Nothing is at work on it.
    service = await startServiceUnderTest(database.url, { vaultKey, role: "api" });
  }, 60_000);
  afterAll(async () => {
    await service?.end("SIGKILL");
    await Promise.all(receivers?.map((receiver) => receiver.close()) ?? []);
    await database?.drop();
    await level?.drop();
  });

  const callAs = (key: string, method: string, request: object) =>
    call<object>(service, method, request, key === "admin" ? administrator : keys[key]);

  test("whatever could be read is answered as it was", { timeout: 60_000 }, async () => {
    for (const { method, key, request, answer } of recording.reads) {
      const answered = answeredThen(await callAs(key, method, request), answer, recording, now);
      // What a later version adds to an answer is no change of it.
      const expected = answeredThen(answer, answer, recording, then) as object;
      expect(answered, `${method} ${JSON.stringify(request)}`).toMatchObject(expected);
    }
  });

  describe("with a node at work", () => {
    beforeAll(async () => {
      await service.end("SIGTERM");
      service = await startServiceUnderTest(database.url, { vaultKey });
    }, 60_000);

    test.concurrent.each(underWay)(
      "job $name goes on and ends well",
      { timeout: 60_000 },
      async ({ id, key, acts, ending }) => {
        expect(await endOnService({ jobs: jobsOf(service, keys[key] ?? ""), id, acts })).toEqual(ending);
      },
    );

    test("what was still to be delivered arrives, signed with the secret that its endpoint was given", async () => {
      const arrived = () => receivers.flatMap(({ received }) => received);
      const ids = () => new Set(arrived().map(({ deliveryId }) => deliveryId));
      await until(() => pendingDeliveries.every((id) => ids().has(id)), 30_000, "deliveries");
      for (const { body, headers } of arrived()) {
        expect(Object.values(signingSecrets).some((secret) => isSigned(secret, body, headers))).toBe(true);
      }
    });

    test.each(recording.calls)(
      "an account opens: $request.toolSlug for $request.entityId",
      async ({ key, request, outcomes }) => {
        const answer = (await callAs(key, "ToolsService/CallTool", request)) as { outcome: string };
        expect(outcomes, JSON.stringify(answer)).toContain(answer.outcome);
      },
    );

    test("the skill begins a job, which ends well", async () => {
      const request = { toolSlug: "skills.announce", argumentsJson: '{"text": "Dinner is ready"}' };
      const { resultJson } = (await callAs("approver", "ToolsService/CallTool", request)) as { resultJson: string };
      const { job_id: id } = JSON.parse(resultJson) as { job_id: string };
      const { status } = await endOnService({ jobs: jobsOf(service, keys["approver"] ?? ""), id, acts: [] });
      expect(status).toBe("JOB_STATUS_SUCCEEDED");
    });

    test("a job's idempotency key still names the job that it named", async () => {
      const { request } = recording.keyedSubmission;
      const { job } = (await callAs("approver", "JobsService/SubmitJob", request)) as { job: { id: string } };
      expect(job.id).toBe(recording.keyedSubmission.jobId);
    });
  });

  test("through a rotation of the vault key all is read as before, and the old key starts nothing any more", {
    timeout: 120_000,
  }, async () => {
    await service.end("SIGTERM");
    const start = (key: string) => startServiceUnderTest(database.url, { vaultKey: key, role: "api" });
    // Tokens of pages are sealed anew by each answer, the reads themselves use keys, and each start has a port of its own.
    const told = (name: string, value: unknown) => (/^(?:nextPageToken|lastUsedAt|publicUrl)$/.test(name) ? "" : value);
    const readAll = async () => {
      const answers: string[] = [];
      for (const { method, key, request } of recording.reads) {
        answers.push(JSON.stringify(await callAs(key, method, request), told));
      }
      return answers;
    };
    service = await start(vaultKey);
    const before = await readAll();
    await service.end("SIGTERM");
    const newKey = generateVaultKey();
    await rotateAtOnce(database.db, `${newKey} ${vaultKey}`);
    expect(await findVaultRotation(database.db)).toMatchObject({ state: "done", problem: "", pass: 2 });
    await expect(start(vaultKey)).rejects.toThrow("SVC_VAULT_KEY");
    service = await start(newKey);
    expect(await readAll()).toEqual(before);
  });
});

/** Rotates the vault key of a store that no node runs on, from the second of the keys to the first. */
async function rotateAtOnce(db: Database, keys: string): Promise<void> {
  const vault = await openVault({
    ...{ db, clock: systemClock, nodeId: createId("node", systemClock.now()), isRotating: false },
    keys: { read: async () => parseVaultKeys(keys) },
    logger: await createLogger({ level: "silent", destination: { write: () => {} } }),
    limits: { pollMs: 3_600_000, graceMs: 0 },
  });
  await vault.rotate();
  do await vault.step();
  while ((await findVaultRotation(db))?.state !== "done");
  await vault.stop();
}

function isSigned(secret: string, body: string, headers: Subscriber["received"][number]["headers"]): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    // Another endpoint's.
    return false;
  }
}
