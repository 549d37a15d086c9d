import { createHmac } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createTestDatabase } from "@svc/testing/database";
import {
  adminToken,
  bootstrapKey,
  call,
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

vi.setConfig({ testTimeout: 300_000 });
const isWhole = rounds > 1;
const count = isWhole ? 800 : 80;
const looks = isWhole ? 20 : 1;
const benchToolkits = fileURLToPath(new URL("../../bench/toolkits", import.meta.url));
const ordersSecret = "orders-secret-of-the-tests-0123456789";
let server: ServerProcess;
/** Keys of the attacking projects. */
const keys: string[] = [];
let posted = 0;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const database = await createTestDatabase();
  closing.push(() => database.drop());
  server = await startServerProcess({
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_TOOLKITS: `${fewToolkits},${benchToolkits}`,
    SVC_WEBHOOK_SECRET_BENCH_ORDERS: ordersSecret,
  });
  closing.push(() => server.end("SIGKILL"));
  const admin = <Answer>(name: string, body: object) => call<Answer>(server, `AdminService/${name}`, body, adminToken);
  for (const name of ["attacker", "accomplice", "another"]) {
    const { project } = await admin<{ project: { id: string } }>("CreateProject", { name });
    const key = { projectId: project.id, role: "ROLE_MEMBER", name };
    keys.push((await admin<{ key: string }>("CreateApiKey", key)).key);
  }
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** Returns a request of which `sent` bytes of the body arrive, and the rest never does. */
function unfinished(path: string, sent: number, headers: Record<string, string> = {}): string {
  const all = { host: "127.0.0.1", "content-length": String(sent + 1), "content-type": "application/json", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${headers["x-method"] ?? "POST"} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${"x".repeat(sent)}`;
}

const large = 1_000_000;
const submitJob = "/svc.v1.JobsService/SubmitJob";
const asAttacker = (index = 0) => ({ authorization: `Bearer ${keys[index % keys.length]}` });

/** Places to which a body can be sent, each with a request whose body stays incomplete there. */
const places: [string, (index: number) => string][] = [
  ["posts that are announced and never sent", () => unfinished("/webhooks/bench_orders", large).slice(0, -large)],
  ["posts of a toolkit", () => unfinished("/webhooks/bench_orders", large)],
  ["calls of a project", () => unfinished(submitJob, large, asAttacker())],
  ["MCP", () => unfinished("/mcp", large, asAttacker())],
  ["calls without a key", () => unfinished(submitJob, large)],
  ["calls with a wrong key", () => unfinished(submitJob, large, { authorization: "Bearer no" })],
  ["the health call, large", () => unfinished("/grpc.health.v1.Health/Check", large)],
  ["the health call, small", () => unfinished("/grpc.health.v1.Health/Check", 1_000)],
  [
    "the health stream",
    () => unfinished("/grpc.health.v1.Health/Watch", 1_000, { "content-type": "application/connect+json" }),
  ],
  ["health, which takes none", () => unfinished("/readyz", large, { "x-method": "GET" })],
  ["a page, which takes none", () => unfinished("/oauth/callback", large, { "x-method": "GET" })],
  [
    "several projects and a toolkit at once",
    (index) =>
      index % 4 === 0 ? unfinished("/webhooks/bench_orders", large) : unfinished(submitJob, large, asAttacker(index)),
  ],
];

async function postOrder(): Promise<number> {
  const body = JSON.stringify({ id: `order-${posted++}`, topic: "order.changed", sentAt: "now", order: {} });
  const signature = createHmac("sha256", ordersSecret).update(body).digest("hex");
  const answer = await fetch(`${server.url}/webhooks/bench_orders`, {
    method: "POST",
    headers: { "x-orders-signature": `sha256=${signature}` },
    body,
  });
  await answer.arrayBuffer();
  return answer.status;
}

async function checkHealth(): Promise<number> {
  const answer = await fetch(`${server.url}/grpc.health.v1.Health/Check`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  await answer.arrayBuffer();
  return answer.status;
}

test("bodies that are held, wherever they are sent to, cost little and nobody else their answers", timed, async () => {
  await using bystander = await startBystander(server, { key: bootstrapKey });
  for (const [name, request] of places) {
    await using _held = await hold(server, { count, bytes: request });
    for (let look = 0; look < looks; look++) {
      expect(await postCalendar(server, "channel", posted++), name).toBe(202);
      expect((await fetch(`${server.url}/readyz`)).status, name).toBe(200);
    }
    // The orders come from the address of the attack and go to the same place. After two seconds, slow bodies are discarded in their
    // favour.
    await until(async () => (await postOrder()) === 202, 10_000, `orders beside ${name}`);
    await until(async () => (await checkHealth()) === 200, 10_000, `health calls beside ${name}`);
    expect(await residentMiB(server.process.pid), name).toBeLessThan(rssMaxMiB);
  }
  const report = await bystander.stop();
  expect(report.failures).toEqual([]);
  expect(report.p99Ms).toBeLessThan(bystanderP99MaxMs);
});

test("whoever is over a share, or a quota, is told when to come back", async () => {
  await using held = await hold(server, { count, bytes: () => unfinished(submitJob, large, asAttacker()) });
  await until(() => held.answers().length > 0);
  for (const answer of held.answers()) {
    expect(answer).toMatch(/^HTTP\/1\.1 (503 .*retry-after: 5.*NODE_OVERLOADED|429 .*retry-after: \d.*QUOTA_)/s);
  }
});

/** Data of which one read of a connection contains thousands of pieces. Each piece costs the node far more than its bytes suggest. */
const fine: readonly (readonly [string, string])[] = [
  ["a call's body in chunks of one byte", chunked(submitJob, {})],
  ["a project's call in chunks of one byte", chunked(submitJob, asAttacker())],
  ["a post in chunks of one byte", chunked("/webhooks/bench_orders", {})],
  ["a call over MCP in chunks of one byte", chunked("/mcp", asAttacker())],
  ["requests in a row", "GET /nowhere HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".repeat(20_000)],
];

function chunked(path: string, headers: Record<string, string>): string {
  const all = { host: "127.0.0.1", "content-type": "application/json", "transfer-encoding": "chunked", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${"1\r\n \r\n".repeat(150_000)}`;
}

test.each(fine)("a few connections that send %s keep nobody waiting", timed, async (_, bytes) => {
  await using bystander = await startBystander(server, { key: bootstrapKey });
  for (let round = 0; round < (isWhole ? 20 : 2); round++) {
    // These connections come from a separate address, which is held back for a while afterwards.
    await using held = await hold(server, { count: 20, bytes: () => bytes, localAddress: "127.0.0.2" });
    await until(() => held.open() === 0, 10_000, "all are ended");
  }
  expect(await residentMiB(server.process.pid)).toBeLessThan(rssMaxMiB);
  const report = await bystander.stop();
  expect(report.failures).toEqual([]);
  expect(report.p99Ms).toBeLessThan(bystanderP99MaxMs);
});
