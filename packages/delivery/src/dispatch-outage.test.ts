import { rm } from "node:fs/promises";
import { openDatabase } from "@svc/db/connect";
import { startEmbeddedPostgres } from "@svc/db/embedded/postgres";
import { migrateDatabase } from "@svc/db/migrate";
import { startForwarder } from "@svc/testing/forwarder";
import { startTestReceiver } from "@svc/testing/receiver";
import { createStoredDataDir } from "@svc/testing/stored-data-dir";
import { until, untilMoved } from "@svc/testing/until";
import { expect, test } from "vitest";
import { startTestEngine, storeOn } from "./test-engine.ts";

test("attempts that end while the store is away are recorded when it is back, and nothing is lost or sent again", async () => {
  await using receiver = await startTestReceiver();
  receiver.hold();
  const dataDir = await createStoredDataDir();
  let postgres = await startEmbeddedPostgres({ dataDir, durability: "none" });
  await migrateDatabase(postgres.url);
  await using forwarder = await startForwarder(postgres.url);
  const db = openDatabase({ url: forwarder.url, connectionsMax: 4 });
  const store = await storeOn(db);
  const engine = startTestEngine(store);
  const { id } = await store.subscribe(receiver.url);
  await store.publish([id], { count: 16 });
  engine.dispatcher.wake();
  await until(() => receiver.inFlight() === 16);

  await forwarder.close();
  await postgres.stop();
  receiver.release();
  await until(() => engine.attempts.length === 16);
  await until(() => engine.failures.some(({ what }) => what === "settle"));
  postgres = await startEmbeddedPostgres({ dataDir, durability: "none" });
  await forwarder.reopen(postgres.url);
  await untilMoved(() => {
    store.clock.advance(250);
    engine.dispatcher.wake();
    return engine.dispatcher.stats().held === 0;
  });
  expect(await store.count("delivered")).toBe(16);
  expect(receiver.requests).toHaveLength(16);
  expect(engine.leasesLost()).toBe(0);
  await engine.dispatcher.drain(0);
  await db.close();
  await postgres.stop();
  await rm(dataDir, { recursive: true });
});
