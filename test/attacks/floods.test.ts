import { createHmac } from "node:crypto";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { createTestDatabase } from "@svc/testing/database";
import { processorBudgetMs } from "@svc/testing/processor";
import {
  adminToken,
  bootstrapKey,
  call,
  type ServerProcess,
  startServerProcess,
  until,
  vaultKey,
} from "@svc/testing/server-process";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startBystander } from "./bystander.ts";
import { cpuMsOf } from "./cpu.ts";
import { startRequests } from "./flood.ts";
import { ledgerSecret, writeLedgerApp } from "./ledger-app.ts";
import { createAttackProject } from "./project.ts";
import { bystanderP99MaxMs, rounds, timed } from "./rounds.ts";

// Floods of 10 s each: 100 callers without a key, posts of a megabyte that go into quarantine, and eight exports at the same time. In an
// earlier version, they raised another project's p99 to 607, 376 and 331 ms. In `npm test`, processor time is checked, because other
// processes do not affect it.

vi.setConfig({ testTimeout: 300_000 });
const isWhole = rounds > 1;
const floodMs = isWhole ? 10_000 : 3_000;
const probe = fileURLToPath(new URL("loop-probe.fixture.ts", import.meta.url));
const closing: (() => Promise<unknown>)[] = [];
let server: ServerProcess;
let exported: { readonly projectId: string; readonly entityId: string };

beforeAll(async () => {
  const database = await createTestDatabase();
  closing.push(() => database.drop());
  const app = await writeLedgerApp("http://127.0.0.1:9");
  closing.push(async () => app[Symbol.asyncDispose]());
  server = await startServerProcess({
    ...app.variables,
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    NODE_OPTIONS: `--import ${probe}`,
  });
  closing.push(() => server.end("SIGKILL"));
  const { projectId } = await createAttackProject(server, "exported");
  exported = { projectId, entityId: "ann" };
  await database.db
    .sql`insert into events (id, project_id, kind, toolkit_slug, trigger_slug, entity_id, account, payload, occurred_at, received_at, dedupe_key)
    select gen_random_uuid(), id, 'event', 'ledger', 'ledger.entry_booked', 'ann', '', '{"t":"' || repeat(md5(n::text), 60) || '"}', now(), now(), n::text
    from projects, generate_series(1, 20000) n where name = 'exported'`;
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

type Requests = Parameters<typeof startRequests>[2] & { readonly path: string };

const json = { "content-type": "application/json" };
const listing = "/svc.v1.TriggersService/ListSubscriptions";
const strangers = (path: string, headers: Record<string, string>, body: string | Buffer = "{}"): Requests => ({
  ...{ path, headers, body },
  workers: 100,
});

function posts(body: string | Buffer, headers: Record<string, string> = {}, secret = ledgerSecret): Requests {
  const bytes = Buffer.from(body as string);
  const signature = createHmac("sha256", secret).update(bytes).digest("hex");
  return {
    path: "/webhooks/ledger",
    headers: { ...json, "x-ledger-signature": signature, ...headers },
    body: bytes,
    workers: 20,
  };
}

function frame(message: object): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(text.byteLength, 1);
  return Buffer.concat([head, text]);
}

const entry = '{"kind":"entry","owner":"o","id":1,"list":';
const listOf = (item: string, bytes = 950_000) => `${entry}[${`${item},`.repeat(bytes / (item.length + 1))}1]`;
const rows = listOf('{"a":1}');
const names = Array.from({ length: 80_000 }, (_, n) => `"k${n}":1`).join(",");
const stream = { "content-type": "application/connect+json" };

/** Floods. `heldMs`: maximum processor time, in milliseconds, for which the event loop may be blocked in 99 of a hundred measurements. */
const floods: readonly (readonly [name: string, requests: () => Requests, heldMs: number])[] = [
  ["callers without a key", () => strangers(listing, json), 15],
  ["streams without a key", () => strangers("/svc.v1.StatsService/WatchProject", stream, frame({})), 15],
  ["callers with a wrong key", () => strangers(listing, { ...json, authorization: "Bearer wrong" }), 15],
  ["agents without a key", () => strangers("/mcp", json), 15],
  ["unknown paths", () => strangers("/nowhere", json), 15],
  ["posts of 1 MB that are cut", () => posts(rows), 40],
  ["posts of 1 MB that match no trigger", () => posts(`${rows.replace("entry", "other")}}`), 40],
  ["posts of 1 MB in no charset", () => posts(Buffer.alloc(1_000_000, 0xe9)), 40],
  [
    "posts of 1 MB in another charset",
    () => posts(Buffer.alloc(1_000_000, 0xe9), { "content-type": "a/json; charset=latin1" }),
    40,
  ],
  ["posts of 1 MB with a wrong signature", () => posts(rows, {}, "wrong"), 40],
  ["posts that are compressed and cut", () => posts(gzipSync(rows), { "content-encoding": "gzip" }), 40],
  ["posts of 300,000 -0", () => posts(`${listOf("-0")}}`), 40],
  ["posts of 40,000 long numbers", () => posts(`${listOf("0.12345678901234567890")}}`), 40],
  ["posts of 450,000 levels", () => posts(`${entry}${"[".repeat(450_000)}${"]".repeat(450_000)}}`), 40],
  ["posts of 80,000 names", () => posts(`${entry}1,${names}}`), 40],
  [
    "eight exports at once",
    () => ({
      path: "/svc.v1.AdminService/ExportEntity",
      headers: { ...stream, authorization: `Bearer ${adminToken}` },
      body: frame(exported),
      workers: 8,
    }),
    20,
  ],
];

/** Returns for how long the event loop was blocked since the last call of this function. */
async function takeHeld(): Promise<{
  readonly looks: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}> {
  const from = server.output().length;
  server.process.kill("SIGUSR2");
  const told = () => /held (\{.*\})\n/.exec(server.output().slice(from))?.[1];
  await until(() => told() !== undefined);
  return JSON.parse(told() ?? "{}");
}

test.each(floods)("a flood of %s leaves the loop to others", timed, async (name, requests, heldMs) => {
  const { path, ...sent } = requests();
  await using bystander = await startBystander(server, { key: bootstrapKey });
  await using flood = await startRequests(server, path, sent);
  await takeHeld();
  const [startedMs, cpuMs] = [performance.now(), await cpuMsOf(server.process.pid)];
  await until(() => performance.now() - startedMs > floodMs, 2 * floodMs);
  const usedMs = (await cpuMsOf(server.process.pid)) - cpuMs;
  const held = await takeHeld();
  const seen = await bystander.stop();
  const { statuses } = await flood.stop();
  if (isWhole) {
    process.stdout.write(
      `${name}: p50 ${seen.p50Ms.toFixed(0)} ms, p99 ${seen.p99Ms.toFixed(0)} ms of ${seen.calls}; held p99 ${held.p99Ms.toFixed(1)}, at most ${held.maxMs.toFixed(1)} ms; processor ${usedMs} ms; flood ${JSON.stringify(statuses)}\n`,
    );
  }
  expect(seen.failures).toEqual([]);
  // The code before this limit existed took ten times as long.
  expect(held.p99Ms).toBeLessThan(processorBudgetMs(heldMs));
  expect(seen.p99Ms).toBeLessThan(bystanderP99MaxMs);
});

test("callers without a key cost a fixed rate, however many they are", async () => {
  const cost = async (workers: number) => {
    await using flood = await startRequests(server, listing, { headers: json, body: "{}", workers });
    const startedMs = performance.now();
    await until(() => performance.now() - startedMs > floodMs, 2 * floodMs);
    const { statuses } = await flood.stop();
    expect(Object.keys(statuses)).toEqual(["401"]);
    return (statuses[401] ?? 0) / (performance.now() - startedMs);
  };
  for (const workers of [50, 150]) expect(await cost(workers)).toBeLessThan(0.3);
});

test("the service answers as before once the floods are over", async () => {
  expect(await call(server, "TriggersService/ListSubscriptions", {})).toMatchObject({ subscriptions: [] });
});
