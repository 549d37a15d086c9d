import { startReplicatedPostgres } from "@svc/testing/replicated-postgres";
import { call, type ServerProcess, startServerProcess, until, vaultKey } from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { startSubscriber } from "@svc/testing/subscriber";
import { afterEach, expect, test } from "vitest";
import { type Load, numbersOf, startLoad } from "./load.ts";

const isWhole = process.env["SVC_CRASH_ROUNDS"] !== undefined;
const acknowledgedMin = isWhole ? 300 : 50;
// The driver opens sessions again within a second of its backoff. A sample that shares the machine with other tests takes longer.
const acceptsAgainMs = isWhole ? 10_000 : 30_000;
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Waits until `count` more posts of a load were answered with success. */
function untilAcknowledged(load: Load, count: number, timeoutMs: number, what: string): Promise<void> {
  const before = load.acknowledged.size;
  return until(() => load.acknowledged.size >= before + count, timeoutMs, what);
}

test("what two nodes answered 2xx outlives the primary, and both go on with the promoted standby", {
  timeout: 180_000,
}, async () => {
  const postgres = await startReplicatedPostgres();
  cleanups.push(postgres.stop);
  const receiver = await startSubscriber();
  cleanups.push(() => receiver.close());
  const key = vaultKey();
  const start = async (first: "primary" | "standby") => {
    const server: ServerProcess = await startServerProcess({
      SVC_TOOLKITS: fewToolkits,
      SVC_DATABASE_URL: postgres.url(first),
      SVC_VAULT_KEY: key,
    });
    cleanups.push(() => server.end("SIGKILL"));
    return server;
  };
  // The second node has the standby first in its list, so it has to skip the standby.
  const nodes = [await start("primary"), await start("standby")];
  for (const node of nodes.slice(0, 1)) {
    await call(node, "TriggersService/CreateSubscription", { endpointUrl: receiver.url });
  }
  const loads = nodes.map((node) => startLoad(node, 6));
  cleanups.push(() => Promise.all(loads.map((load) => load.stop())));
  await Promise.all(loads.map((load) => untilAcknowledged(load, acknowledgedMin, 30_000, "load on the primary")));
  await postgres.killPrimary();
  await postgres.promoteStandby();
  const since = performance.now();
  await Promise.all(loads.map((load) => untilAcknowledged(load, 1, acceptsAgainMs, "a post accepted by the standby")));
  const resumedMs = Math.round(performance.now() - since);
  await Promise.all(loads.map((load) => untilAcknowledged(load, acknowledgedMin, 30_000, "load on the standby")));
  await Promise.all(loads.map((load) => load.stop()));
  const acknowledged = new Set(loads.flatMap((load) => [...load.acknowledged]));
  // Attempts whose record was lost with the primary are repeated when their leases of 30 s have ended.
  const missing = () => {
    const received = numbersOf(receiver.received);
    return [...acknowledged].filter((number) => !received.has(number));
  };
  await until(() => missing().length === 0, 60_000, "all that was acknowledged delivered");
  expect(missing()).toEqual([]);
  process.stderr.write(`failover: ${acknowledged.size} accepted, 0 lost, both nodes on after ${resumedMs} ms\n`);
});
