import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestPostgres } from "@svc/db/testing";
import { afterEach, expect, test } from "vitest";
import { type Receiver, startReceiver } from "../receiver.ts";
import { call, freePort, type ServiceProcess, startServiceProcess, until, vaultKey } from "../service-process.ts";
import { numbersOf, startLoad } from "./load.ts";

const rounds = Number(process.env["SVC_CRASH_ROUNDS"] ?? 3);
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Kills the service `rounds` times at random moments under load; everything that was answered 2xx must arrive in the end. */
async function killUnderLoad(env: Record<string, string>, receiver: Receiver): Promise<void> {
  const port = String(await freePort());
  const start = () => startServiceProcess({ ...env, SVC_PORT: port });
  let service: ServiceProcess = await start();
  cleanups.push(() => service.end("SIGKILL"));
  await call(service, "TriggersService/CreateSubscription", { endpointUrl: receiver.url });
  const load = startLoad(service, 12);
  cleanups.push(() => load.stop());
  for (let round = 0; round < rounds; round++) {
    const before = load.acknowledged.size;
    await until(() => load.acknowledged.size > before + 50, 20_000, `load in round ${round}`);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
    await service.end("SIGKILL");
    service = await start();
  }
  await load.stop();
  // Leases of the killed run out after 30 s; deliveries that failed while the receiver was busy are tried again.
  await until(
    () => isSubset(load.acknowledged, numbersOf(receiver.received)),
    60_000,
    "everything acknowledged was delivered",
  );
  const missing = [...load.acknowledged].filter((number) => !numbersOf(receiver.received).has(number));
  expect(missing).toEqual([]);
  expect(load.acknowledged.size).toBeGreaterThan(rounds * 50);
  expect(await service.end("SIGTERM")).toBe(0);
}

function isSubset(part: ReadonlySet<number>, whole: ReadonlySet<number>): boolean {
  for (const number of part) if (!whole.has(number)) return false;
  return true;
}

test(`killed ${rounds} times on its embedded store, the service loses nothing it answered 2xx`, {
  timeout: 240_000,
}, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-crash-"));
  cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
  await chmod(dataDir, 0o755); // PostgreSQL runs as another user when we are root
  const receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  await killUnderLoad({ SVC_DATA_DIR: join(dataDir, "data") }, receiver);
});

test(`killed ${rounds} times on a PostgreSQL of its own, the service loses nothing it answered 2xx`, {
  timeout: 240_000,
}, async () => {
  const postgres = await startTestPostgres();
  cleanups.push(() => postgres.stop());
  const receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  await killUnderLoad({ SVC_DATABASE_URL: postgres.url, SVC_VAULT_KEY: vaultKey() }, receiver);
});

test("the leased deliveries of a killed node go out from another within 35 s", { timeout: 120_000 }, async () => {
  const postgres = await startTestPostgres();
  cleanups.push(() => postgres.stop());
  const receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  const env = { SVC_DATABASE_URL: postgres.url, SVC_VAULT_KEY: vaultKey() };
  const [first, second] = await Promise.all([startServiceProcess(env), startServiceProcess(env)]);
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
  await until(() => isSubset(load.acknowledged, numbersOf(receiver.received)), 35_000, "the other node took over");
  expect(Date.now() - killedAtMs).toBeLessThan(35_000);
});

test("SIGTERM under load: exit 0, and nothing that was answered 2xx is delivered again", {
  timeout: 120_000,
}, async () => {
  const postgres = await startTestPostgres();
  cleanups.push(() => postgres.stop());
  const receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  const env = { SVC_DATABASE_URL: postgres.url, SVC_VAULT_KEY: vaultKey() };
  const port = String(await freePort());
  let service = await startServiceProcess({ ...env, SVC_PORT: port });
  cleanups.push(() => service.end("SIGKILL"));
  await call(service, "TriggersService/CreateSubscription", { endpointUrl: receiver.url });
  const load = startLoad(service, 12);
  cleanups.push(() => load.stop());
  for (let round = 0; round < 3; round++) {
    const before = load.acknowledged.size;
    await until(() => load.acknowledged.size > before + 200, 20_000, `load in round ${round}`);
    expect(await service.end("SIGTERM"), service.output()).toBe(0);
    service = await startServiceProcess({ ...env, SVC_PORT: port });
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
