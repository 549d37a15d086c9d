import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "@svc/db/connect";
import { databaseUrl, startTestPostgres, type TestPostgres } from "@svc/testing/database";
import { endLeases } from "@svc/testing/leases";
import {
  call,
  freePort,
  postCalendar,
  type ServerProcess,
  startServerProcess,
  until,
  vaultKey,
} from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { createStoredDataDir } from "@svc/testing/stored-data-dir";
import { type Subscriber, startSubscriber } from "@svc/testing/subscriber";
import { afterAll, afterEach, expect, test } from "vitest";
import { numbersOf, startLoad } from "./load.ts";

// `npm test` kills once, and moves the clock instead of waiting for a lease. `npm run test:crash` kills often and waits.
const isWhole = process.env["SVC_CRASH_ROUNDS"] !== undefined;
const rounds = Number(process.env["SVC_CRASH_ROUNDS"] ?? 1);
const times = isWhole ? `${rounds} times` : "once";
const definitions = { SVC_TOOLKITS: fewToolkits };
let postgres: TestPostgres | undefined;
let databases = 0;
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(() => postgres?.stop());

/** Kills the server `rounds` times at random moments under load. Every post that was answered 2xx must arrive in the end. */
async function killUnderLoad(
  env: Record<string, string>,
  { receiver, storeUrl }: { receiver: Subscriber; storeUrl: () => Promise<string> },
): Promise<void> {
  const port = String(await freePort());
  const start = () => startServerProcess({ ...definitions, ...env, SVC_PORT: port });
  let server: ServerProcess = await start();
  cleanups.push(() => server.end("SIGKILL"));
  await call(server, "TriggersService/CreateSubscription", { endpointUrl: receiver.url });
  const load = startLoad(server, 12);
  cleanups.push(() => load.stop());
  for (let round = 0; round < rounds; round++) {
    const before = load.acknowledged.size;
    await until(() => load.acknowledged.size > before + 50, 20_000, `load in round ${round}`);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
    await server.end("SIGKILL");
    server = await start();
  }
  await load.stop();
  if (!isWhole) await endLeases(await storeUrl(), "delivery_tasks");
  // The leases of the killed server end after 30 s. Deliveries that failed because the receiver was busy are tried again.
  await until(
    () => isSubset(load.acknowledged, numbersOf(receiver.received)),
    60_000,
    "everything acknowledged was delivered",
  );
  const missing = [...load.acknowledged].filter((number) => !numbersOf(receiver.received).has(number));
  expect(missing).toEqual([]);
  expect(load.acknowledged.size).toBeGreaterThan(rounds * 50);
  await expectStoredOnce(server, load.acknowledged, await storeUrl());
  expect(await server.end("SIGTERM")).toBe(0);
}

/** Checks that each answered post is one event, however often it was posted, and that posting it again adds none. */
async function expectStoredOnce(server: ServerProcess, acknowledged: ReadonlySet<number>, url: string): Promise<void> {
  const db = openDatabase({ url, connectionsMax: 1 });
  const countByKey = async () => {
    const rows = await db.sql<{ key: string; count: number }[]>`
      select dedupe_key as key, count(*)::int4 as count from events where kind = 'event' group by 1`;
    return new Map(rows.map(({ key, count }) => [key, count]));
  };
  const stored = await countByKey();
  expect([...stored].filter(([, count]) => count > 1)).toEqual([]);
  expect(stored.size).toBeGreaterThanOrEqual(acknowledged.size);
  for (const number of [...acknowledged].slice(-20)) expect(await postCalendar(server, "load", number)).toBe(202);
  expect(await countByKey()).toEqual(stored);
  await db.close();
}

/**
 * Returns the URL of a new database in the PostgreSQL server that these tests share, because starting a server takes longer than most
 * tests.
 */
async function newDatabase(): Promise<string> {
  postgres ??= await startTestPostgres();
  const name = `t${++databases}`;
  const db = openDatabase({ url: postgres.url, connectionsMax: 1 });
  await db.sql`create database ${db.sql(name)}`;
  await db.close();
  return databaseUrl(postgres.url, name);
}

/** Returns the address of the embedded PostgreSQL of a data folder. */
async function embeddedUrl(dataDir: string): Promise<string> {
  const password = (await readFile(join(dataDir, "postgres", "password"), "utf8")).trim();
  const port = (await readFile(join(dataDir, "postgres", "data", "postmaster.pid"), "utf8")).split("\n")[3];
  return `postgres://svc:${password}@127.0.0.1:${port}/postgres`;
}

function isSubset(part: ReadonlySet<number>, whole: ReadonlySet<number>): boolean {
  for (const number of part) if (!whole.has(number)) return false;
  return true;
}

test(`killed ${times} on its embedded store, the service loses nothing it answered 2xx`, {
  timeout: 240_000,
}, async () => {
  const data = await createStoredDataDir();
  cleanups.push(() => rm(data, { recursive: true, force: true }));
  const receiver = await startSubscriber();
  cleanups.push(() => receiver.close());
  await killUnderLoad(
    { SVC_DATA_DIR: data, SVC_VAULT_KEY: vaultKey() },
    { receiver, storeUrl: () => embeddedUrl(data) },
  );
});

// The sample in `npm test` uses the embedded store instead, which dies with the service.
test.runIf(isWhole)(
  `killed ${times} on a PostgreSQL of its own, the service loses nothing it answered 2xx`,
  {
    timeout: 240_000,
  },
  async () => {
    const url = await newDatabase();
    const receiver = await startSubscriber();
    cleanups.push(() => receiver.close());
    const env = { SVC_DATABASE_URL: url, SVC_VAULT_KEY: vaultKey() };
    await killUnderLoad(env, { receiver, storeUrl: async () => url });
  },
);

test(`the leased deliveries of a killed node go out from another ${isWhole ? "within 35 s" : "once their leases are over"}`, {
  timeout: 120_000,
}, async () => {
  const url = await newDatabase();
  const receiver = await startSubscriber();
  cleanups.push(() => receiver.close());
  const env = { ...definitions, SVC_DATABASE_URL: url, SVC_VAULT_KEY: vaultKey() };
  const [first, second] = await Promise.all([startServerProcess(env), startServerProcess(env)]);
  cleanups.push(
    () => first.end("SIGKILL"),
    () => second.end("SIGKILL"),
  );
  await call(first, "TriggersService/CreateSubscription", { endpointUrl: receiver.url });
  receiver.answer = () => {}; // holds every answer back: the first node's deliveries are in flight, and leased
  const load = startLoad(first, 4);
  await until(() => receiver.received.length >= 16, 10_000, "deliveries in flight");
  await load.stop();
  await first.end("SIGKILL");
  const killedAtMs = Date.now();
  receiver.received.length = 0;
  receiver.answer = (_received, res) => res.writeHead(204).end();
  if (!isWhole) await endLeases(url, "delivery_tasks");
  await until(() => isSubset(load.acknowledged, numbersOf(receiver.received)), 35_000, "the other node took over");
  expect(Date.now() - killedAtMs).toBeLessThan(35_000);
});

test("SIGTERM under load: exit 0, and nothing that was answered 2xx is delivered again", {
  timeout: 120_000,
}, async () => {
  const url = await newDatabase();
  const receiver = await startSubscriber();
  cleanups.push(() => receiver.close());
  const env = { ...definitions, SVC_DATABASE_URL: url, SVC_VAULT_KEY: vaultKey() };
  const port = String(await freePort());
  let server = await startServerProcess({ ...env, SVC_PORT: port });
  cleanups.push(() => server.end("SIGKILL"));
  await call(server, "TriggersService/CreateSubscription", { endpointUrl: receiver.url });
  const load = startLoad(server, 12);
  cleanups.push(() => load.stop());
  for (let round = 0; round < (isWhole ? 3 : 1); round++) {
    const before = load.acknowledged.size;
    await until(() => load.acknowledged.size > before + 200, 20_000, `load in round ${round}`);
    expect(await server.end("SIGTERM"), server.output()).toBe(0);
    server = await startServerProcess({ ...env, SVC_PORT: port });
  }
  await load.stop();
  await until(
    () => isSubset(load.acknowledged, numbersOf(receiver.received)),
    60_000,
    "everything acknowledged was delivered",
  );
  const times = new Map<string, number>();
  for (const { deliveryId } of receiver.received) times.set(deliveryId, (times.get(deliveryId) ?? 0) + 1);
  expect([...times].filter(([, count]) => count > 1)).toEqual([]);
});
