import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { systemClock } from "@svc/core";
import { openDatabase } from "@svc/db/connect";
import { startTestPostgres, type TestPostgres } from "@svc/testing/database";
import { readAnswer, startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHealth } from "./health.ts";

let svc: TestServer;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" } });
});
afterAll(() => svc.stop());

const get = async (path: string, from = svc) => {
  const res = await fetch(`${from.url}${path}`);
  return { status: res.status, type: res.headers.get("content-type"), text: await res.text() };
};
const check = (service: string, from = svc) => from.call("grpc.health.v1.Health/Check", { service }, { bearer: null });

test("a serving node reports that without a key", async () => {
  expect(await get("/healthz")).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  expect(await get("/readyz")).toMatchObject({ status: 200, text: '{"status":"ready"}' });
  for (const service of ["", "svc.v1.TriggersService", "svc.v1.AdminService", "grpc.health.v1.Health"]) {
    expect((await check(service)).json).toEqual({ status: "SERVING" });
  }
});

test("HEAD gets the headers alone, and other methods are 405", async () => {
  const head = await fetch(`${svc.url}/readyz`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  const post = await readAnswer(await fetch(`${svc.url}/readyz`, { method: "POST" }));
  expect(post).toMatchObject({ status: 405, reason: "METHOD_NOT_ALLOWED" });
});

test("a service that the node does not have is not_found", async () => {
  expect(await check("svc.v1.NopeService")).toMatchObject({
    status: 404,
    code: "not_found",
    reason: "HEALTH_SERVICE_UNKNOWN",
    field: "service",
  });
});

test("a check takes a body of 1 KiB and no more, also unpacked", async () => {
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  const checkPacked = (service: string) => {
    const body = gzipSync(JSON.stringify({ service }));
    return fetch(`${svc.url}/grpc.health.v1.Health/Check`, { method: "POST", headers, body }).then(readAnswer);
  };
  expect(await checkPacked("")).toMatchObject({ status: 200 });
  for (const answer of [await check("x".repeat(2_000)), await checkPacked("x".repeat(2_000))]) {
    expect(answer).toMatchObject({ status: 429, reason: "BODY_TOO_LARGE" });
    expect(answer.json.message).toBe("the body is larger than 1024 bytes");
  }
});

test("a watcher gets the current status at once", async () => {
  const body = Buffer.from("{}");
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, body.byteLength]), body]);
  const aborter = new AbortController();
  const res = await fetch(`${svc.url}/grpc.health.v1.Health/Watch`, {
    method: "POST",
    headers: { "content-type": "application/connect+json" },
    body: frame,
    signal: aborter.signal,
  });
  const { value } = await res.body!.getReader().read();
  expect(Buffer.from(value!).subarray(5).toString()).toBe('{"status":"SERVING"}');
  aborter.abort();
});

test("/metrics has calls, posts, deliveries, backlog and the event loop, with few labels", async () => {
  await svc.call("svc.v1.CatalogService/GetTool", { slug: "none" });
  for (const path of ["/webhooks/nobody", "/webhooks/no-one", "/webhooks/calendar?token=wrong"]) {
    await fetch(`${svc.url}${path}`, { method: "POST" });
  }
  const { type, text } = await get("/metrics");
  expect(type).toContain("text/plain");
  for (const line of [
    'svc_rpc_calls_total{method="svc.v1.CatalogService/GetTool",code="not_found"} 1',
    'svc_rpc_duration_seconds_count{method="svc.v1.CatalogService/GetTool"} 1',
    'svc_ingest_posts_total{toolkit="",outcome="unknown_toolkit"} 2',
    'svc_ingest_posts_total{toolkit="calendar",outcome="unverified"} 1',
    "svc_delivery_backlog 0",
    "svc_delivery_in_flight 0",
    "svc_delivery_paced_waiting 0",
    "svc_delivery_leases_lost_total 0",
    "# TYPE svc_delivery_latency_seconds histogram",
    "# TYPE svc_delivery_attempts_total counter",
    "# TYPE svc_endpoint_auth_total counter",
    "# TYPE nodejs_eventloop_lag_p99_seconds gauge",
  ]) {
    expect(text).toContain(line);
  }
  expect(text).not.toContain("no-one");
});

test("while the database is unavailable the node reports it and answers unavailable, and recovers with it", async () => {
  const postgres: TestPostgres = await startTestPostgres();
  const lonely = await startTestServer({
    variables: { SVC_DATABASE_URL: postgres.url, SVC_WEBHOOK_SECRET_CALENDAR: "swordfish", SVC_DRAIN: "0s" },
  });
  await postgres.stop();
  await expect
    .poll(async () => (await get("/readyz", lonely)).text, { timeout: 5_000 })
    .toBe('{"status":"store_unavailable"}');
  expect((await get("/readyz", lonely)).status).toBe(503);
  expect((await get("/healthz", lonely)).status).toBe(200);
  expect((await check("", lonely)).json).toEqual({ status: "NOT_SERVING" });
  expect((await get("/metrics", lonely)).text).toContain("svc_delivery_backlog Nan");
  expect(await lonely.call("svc.v1.TriggersService/ListEvents")).toMatchObject({
    status: 503,
    reason: "STORE_UNAVAILABLE",
  });
  const headers = { "x-calendar-resource-state": "exists" };
  const post = await fetch(`${lonely.url}/webhooks/calendar?token=swordfish`, { method: "POST", headers });
  expect(await readAnswer(post)).toMatchObject({ status: 503, reason: "STORE_UNAVAILABLE" });
  expect(lonely.logs.join("")).not.toContain("swordfish");
  await lonely.stop();
});

test("a database that accepts no writes counts as unavailable", async () => {
  const db = openDatabase({ url: `${svc.database.url}?default_transaction_read_only=on` });
  try {
    expect(await createHealth({ db, clock: systemClock }).check()).toBe("store_unavailable");
  } finally {
    await db.close();
  }
});

test("a node that stops is not ready, finishes what is under way, and refuses what is new", async () => {
  const stopping = await startTestServer();
  const body = '{"slug":"none"}';
  const head = (length: number) =>
    `POST /svc.v1.CatalogService/GetTool HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${stopping.key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  const socket = await stopping.connect();
  socket.write(head(body.length) + body);
  await once(socket, "data");
  socket.write(head(body.length));
  // A second connection asks for the state while the first request is still incomplete. Its own request is kept incomplete until then.
  const probe = await stopping.connect();
  probe.write("GET /readyz HTTP/1.1\r\nHost: x\r\nx-late: ");
  await new Promise((resolve) => probe.write("1", resolve));
  const third = await stopping.connect();
  third.write(head(2).slice(0, -2));
  await new Promise((resolve) => third.write("x-y: z", resolve));
  await stopping.call("svc.v1.CatalogService/GetTool");
  const stopped = stopping.server.stop();
  const answers = Promise.all([once(socket, "data"), once(probe, "data"), once(third, "data")]);
  socket.write(body);
  probe.write("\r\n\r\n");
  third.write("\r\n\r\n{}");
  const [first, ready, refused] = (await answers).map(String);
  expect(first).toContain("TOOL_NOT_FOUND");
  expect(ready).toMatch(/^HTTP\/1\.1 503 .*"draining"/s);
  expect(refused).toMatch(/^HTTP\/1\.1 503 .*SHUTTING_DOWN/s);
  expect(refused).toMatch(/connection: close/i);
  await stopped;
  await expect(fetch(`${stopping.url}/healthz`)).rejects.toThrow();
  await stopping.stop();
});
