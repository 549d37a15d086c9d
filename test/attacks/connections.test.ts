import { createTestDatabase } from "@svc/testing/database";
import {
  adminToken,
  bootstrapKey,
  postCalendar,
  type ServerProcess,
  startServerProcess,
  until,
  vaultKey,
} from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { residentMiB, startBystander } from "./bystander.ts";
import { hold } from "./held.ts";
import { bystanderP99MaxMs, rounds, rssMaxMiB, timed } from "./rounds.ts";

// The sample in `npm test` uses a node with a tenth of the limits and a tenth of the connections.
const isWhole = rounds > 1;
const count = isWhole ? 10_000 : 1_000;
const looks = isWhole ? 20 : 1;
const limits = isWhole ? {} : { SVC_CONNECTIONS: "1000" };
vi.setConfig({ testTimeout: 300_000 });
let server: ServerProcess;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const database = await createTestDatabase();
  closing.push(() => database.drop());
  server = await startServerProcess({
    ...limits,
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_TOOLKITS: fewToolkits,
  });
  closing.push(() => server.end("SIGKILL"));
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** Checks that the service answers requests of strangers and of another project, each on a new connection. */
async function expectService(): Promise<void> {
  const fresh = { headers: { connection: "close" } };
  for (const path of ["/healthz", "/readyz"]) {
    const answer = await fetch(`${server.url}${path}`, fresh);
    expect([path, answer.status]).toEqual([path, 200]);
    await answer.arrayBuffer();
  }
  expect(await postCalendar(server, "channel", Math.floor(Math.random() * 1e9))).toBe(202);
}

const floods: [string, string][] = [
  ["no byte", ""],
  ["half of its headers", "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: "],
  ["15 KiB of headers", `GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx-large: ${"x".repeat(15_000)}`],
  ["a request and no more", "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"],
  [
    "a post whose body never comes",
    "POST /webhooks/calendar?token=x HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n",
  ],
  [
    "a call without a key",
    "POST /svc.v1.JobsService/ListJobs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n",
  ],
];

test("idle connections, whatever they sent, do not keep others from being served", timed, async () => {
  await using bystander = await startBystander(server, { key: bootstrapKey });
  for (const [name, bytes] of floods) {
    await using held = await hold(server, { count, bytes: () => bytes });
    for (let look = 0; look < looks; look++) await expectService();
    expect(held.open(), name).toBeLessThan(count);
    expect(await residentMiB(server.process.pid), name).toBeLessThan(rssMaxMiB);
  }
  const report = await bystander.stop();
  expect(report.failures).toEqual([]);
  expect(report.p99Ms).toBeLessThan(bystanderP99MaxMs);
});

// Only in the full run, because a connection has 10 s for its headers. http-server.test.ts tests the same with a shorter time.
test.runIf(isWhole)("connections that are told 408 are gone, though their clients hold on to them", async () => {
  await using held = await hold(server, { count: 1_000, bytes: () => "GET / HTTP/1.1\r\n" });
  const open = async () => Number(/svc_http_connections\{standing="half_open"\} (\d+)/.exec(await metrics())?.[1]);
  await until(async () => (await open()) < 5, 30_000, "all are told and ended");
  expect(held.answers().filter((answer) => answer.startsWith("HTTP/1.1 408 "))).toHaveLength(1_000);
});

async function metrics(): Promise<string> {
  const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${adminToken}` } });
  return answer.text();
}
