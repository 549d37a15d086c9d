import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@svc/core";
import { openDatabase } from "@svc/db/connect";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDataDir } from "@svc/testing/data-dir";
import { endLeases } from "@svc/testing/leases";
import { repeats } from "@svc/testing/sample";
import {
  adminToken,
  call,
  postCalendar,
  type ServerProcess,
  startServerProcess,
  until,
  vaultKey,
} from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { createStoredDataDir } from "@svc/testing/stored-data-dir";
import { startSubscriber } from "@svc/testing/subscriber";
import { expect, onTestFinished, test } from "vitest";
import { connectDesk, untilEnded } from "./crash/jobs-bench.ts";
import { points } from "./crash/jobs-parts.ts";
import { startJobsProvider, writeDefinitions } from "./crash/jobs-provider.ts";
import { numbersOf } from "./crash/load.ts";
import { startPosts } from "./posts-at-rate.ts";
import { root } from "./source.ts";

// A store is backed up while posts come in and jobs run. Its service continues and is killed, and the backup is restored elsewhere.

/** Posts a second. `SVC_BACKUP_RATE` changes it, and `SVC_BACKUP_SECONDS` makes the posts last longer before the backup. */
const perSecond = Number(process.env["SVC_BACKUP_RATE"] ?? 500);
const seconds = Number(process.env["SVC_BACKUP_SECONDS"] ?? repeats({ sample: 2, whole: 20 }));

const main = await bundled(join(root, "packages/cli/src/main.ts"));

/** Runs a command of `svc` and returns its output. */
async function svc(env: Record<string, string>, ...args: string[]): Promise<string> {
  const all = { ...compileCache, PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...env };
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env: all, maxBuffer: 1e8 });
  return stdout;
}

/** Returns the address of the embedded store of a data folder. */
async function storeUrl(dataDir: string): Promise<string> {
  const password = (await readFile(join(dataDir, "postgres/password"), "utf8")).trim();
  const port = (await readFile(join(dataDir, "postgres/data/postmaster.pid"), "utf8")).split("\n")[3];
  return `postgres://svc:${password}@127.0.0.1:${port}/postgres`;
}

async function submit(server: ServerProcess, tag: string, program: object): Promise<string> {
  const programJson = JSON.stringify({ version: 1, title: tag, input: { tag }, ...program });
  const { job } = await call<{ job: { id: string } }>(server, "JobsService/SubmitJob", { programJson });
  return job.id;
}

type Restore = { restore: { resumedAt?: string; deliveries: number; jobs: number; nothingSince: boolean } };

const desk = (id: string, tool: string, args: object) => ({ id, call: `desk.${tool}`, entity: "ops", args });
/** Returns a program that sends a note for each item, one after the other. */
const mapOf = (tool: string, tag: string) => {
  const list = { rows: { from: "items[]", key: "id", keep: ["id"], page: { arg: "page", from: "next", max: 40 } } };
  const each = [desk("one", tool, { text: { $text: `${tag}/{row.id}` } })];
  const map = { id: "each", map: "items", concurrency: 1, onRows: { unknown: "doubt" }, do: each };
  return { points, steps: [{ ...desk("items", "list_items", {}), ...list }, map] };
};

test(`a backup while ${perSecond} posts a second come has every post accepted before its end; restored, it sends nothing until it is told to, and no write twice in silence`, {
  timeout: 300_000 + 4_000 * seconds,
}, async () => {
  const dataDir = await createStoredDataDir();
  const place = await createTestDataDir();
  for (const dir of [dataDir, place]) onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const [receiver, app] = [await startSubscriber(), await startJobsProvider()];
  onTestFinished(() => receiver.close());
  onTestFinished(() => app.close());
  const definitions = await writeDefinitions(place, app.url);
  const env = {
    SVC_TOOLKITS: `${fewToolkits},${definitions.toolkits}`,
    SVC_DEPLOYMENT: definitions.deployment,
    SVC_WEBHOOK_AUDIENCE: "projects",
    SVC_VAULT_KEY: vaultKey(),
  };
  const first = await startServerProcess({ ...env, SVC_DATA_DIR: dataDir });
  onTestFinished(async () => void (await first.end("SIGKILL")));
  await call(first, "TriggersService/CreateSubscription", { endpointUrl: receiver.url });
  await connectDesk(first);

  // Rows from the fourth on wait until the backup is made, so that the backup finds each job in the middle of its map.
  const backedUp = new AbortController();
  app.onRequest = async ({ text, path }) => {
    // The wait is shorter than the 30 s that a call may take.
    if (/\/(?:i[3-9]|gate)$/.test(text || path)) await systemClock.wait(20_000, backedUp.signal);
    return false;
  };
  const plain = await submit(first, "plain", mapOf("send_note", "plain"));
  const keyed = await submit(first, "keyed", mapOf("send_keyed", "keyed"));
  const gates = Array.from({ length: 6 }, (_, gate) => desk(`gate${gate}`, "get_item", { id: "gate" }));
  const reads = { steps: [...gates, desk("note", "send_note", { text: "waits" })] };
  const waits = await submit(first, "waits", reads);
  const posts = startPosts(first, { channel: "load", perSecond });
  const sent = (text: string) => app.seen.filter((request) => request.text === text);
  await until(() => sent("plain/i3").length + sent("keyed/i3").length === 2, 60_000, "both maps in their middle");
  await until(() => posts.accepted.size > perSecond * seconds * 0.3, 10_000 * seconds, "a part of the load");
  const file = join(place, "svc.backup");
  const { endsAt } = JSON.parse(await svc({ ...env, SVC_DATA_DIR: dataDir }, "backup", file, "--json")) as {
    endsAt: string;
  };
  const rate = await posts.stop();
  backedUp.abort();
  process.stderr.write(`a backup under ${Math.round(rate)} posts a second\n`);

  // The service continues. Its work from here on is not in the backup.
  for (const id of [plain, keyed, waits]) {
    const { status, stepReceipts } = await untilEnded(first, id, 120_000);
    expect([status, stepReceipts.at(-1)?.rows?.["unknown"] ?? 0]).toEqual(["JOB_STATUS_SUCCEEDED", 0]);
  }
  await until(() => numbersOf(receiver.received).size >= posts.accepted.size, 60_000, "all deliveries");
  await first.end("SIGKILL");
  const before = [...posts.accepted].filter(([, at]) => at < Date.parse(endsAt)).map(([number]) => number);
  expect(before.length).toBeGreaterThan(100);
  const deliveredBefore = new Map(
    receiver.received.map(({ deliveryId, headers }) => [deliveryId, headers["webhook-id"]]),
  );
  const [deliveries, requests] = [receiver.received.length, app.seen.length];

  const restoredDir = join(place, "restored");
  await svc({ ...env, SVC_DATA_DIR: restoredDir }, "restore", file);
  const second = await startServerProcess({ ...env, SVC_DATA_DIR: restoredDir });
  onTestFinished(async () => void (await second.end("SIGKILL")));
  expect(second.output()).toContain("the database was restored from a backup: svc accepts");
  const store = openDatabase({ url: await storeUrl(restoredDir), connectionsMax: 1 });
  onTestFinished(() => store.close());
  const rows = await store.sql<{ message: number }[]>`
    select (payload::json->>'message_number')::int4 as message from events where kind = 'event'`;
  const there = new Set(rows.map(({ message }) => message));
  expect(before.filter((number) => !there.has(number))).toEqual([]);

  // Ends the leases of the first service, so that due work could go out at once.
  for (const table of ["delivery_tasks", "job_tasks"] as const) await endLeases(await storeUrl(restoredDir), table);
  await store.sql`update tool_calls set created_at = created_at - interval '10 min' where outcome = 'running'`;
  expect(await postCalendar(second, "held", 1)).toBe(202);
  const held = await call<Restore>(second, "AdminService/GetRestore", {}, adminToken);
  expect(held.restore).toMatchObject({ jobs: 3, deliveries: expect.any(Number) });
  expect(held.restore.deliveries).toBeGreaterThan(0);
  // This is longer than the time between two looks of an engine.
  const heldUntil = performance.now() + 2_500;
  await until(() => performance.now() > heldUntil);
  expect([receiver.received.length, app.seen.length]).toEqual([deliveries, requests]);

  const admin = { SVC_URL: second.url, SVC_ADMIN_TOKEN: adminToken };
  expect(await svc(admin, "resume", "--dry-run")).toContain("3 jobs wait");
  expect(await svc(admin, "resume")).toContain("writes of jobs without a key are in doubt");
  await until(() => second.output().includes("the restored service was resumed"), 10_000, "the word of it");
  const ended = new Map<string, Awaited<ReturnType<typeof untilEnded>>>();
  for (const id of [plain, keyed, waits]) ended.set(id, await untilEnded(second, id, 120_000));
  await until(
    () => numbersOf(receiver.received.slice(deliveries)).size >= held.restore.deliveries,
    60_000,
    "deliveries",
  );

  // A write without a key was not sent again, and people were asked about each. A write with a key was sent again under the same key.
  const texts = Array.from({ length: 9 }, (_, item) => `i${item}`);
  expect(texts.map((text) => sent(`plain/${text}`).length)).toEqual(texts.map(() => 1));
  expect(sent("waits")).toHaveLength(1);
  expect(ended.get(plain)?.stepReceipts.find(({ stepId }) => stepId === "each")?.calls?.["unknown"]).toBeGreaterThan(0);
  expect(ended.get(waits)?.stepReceipts.at(-1)?.calls).toMatchObject({ unknown: 1 });
  for (const text of texts) expect(new Set(sent(`keyed/${text}`).map(({ key }) => key)).size).toBe(1);
  expect(ended.get(keyed)?.stepReceipts.find(({ stepId }) => stepId === "each")?.rows).toMatchObject({ ok: 9 });
  // Repeated deliveries have the same ids as before.
  const again = receiver.received.slice(deliveries).filter(({ deliveryId }) => deliveredBefore.has(deliveryId));
  for (const { deliveryId, headers } of again) expect(headers["webhook-id"]).toBe(deliveredBefore.get(deliveryId));
  const { events } = await call<{ events: { action: string }[] }>(
    second,
    "AdminService/ListAuditEvents",
    {},
    adminToken,
  );
  expect(events.map(({ action }) => action)).toContain("AdminService.ResumeRestored");
  await expect(call(second, "AdminService/ResumeRestored", {}, adminToken)).rejects.toThrow("STORE_NOT_HELD");
  // After one resume, the service continues its work at every later start too.
  await second.end("SIGKILL");
  const third = await startServerProcess({ ...env, SVC_DATA_DIR: restoredDir });
  onTestFinished(async () => void (await third.end("SIGKILL")));
  const known = receiver.received.length;
  expect(await postCalendar(third, "after", 1)).toBe(202);
  await until(() => receiver.received.length > known, 20_000, "a delivery after the restart");
});
