import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { expect, onTestFinished, test } from "vitest";

async function start(variables: Record<string, string> = {}): Promise<TestServer> {
  const svc = await startTestServer({ variables: { SVC_WEBHOOK_SECRET_CALENDAR: "swordfish", ...variables } });
  onTestFinished(() => svc.stop());
  return svc;
}

/** Starts an endpoint that answers with 200 and keeps the bodies that it receives. */
async function startEndpoint(): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer(async (req, res) => {
    let body = "";
    for await (const chunk of req) body += chunk;
    bodies.push(body);
    res.end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies };
}

async function post({ url }: TestServer, number = 1): Promise<unknown> {
  const headers = {
    "x-calendar-resource-state": "exists",
    "x-calendar-channel-id": "channel",
    "x-calendar-message-number": String(number),
    "x-calendar-resource-id": "resource",
    "x-calendar-resource-uri": "https://example.com/calendars/c1/events",
  };
  const res = await fetch(`${url}/webhooks/calendar?token=swordfish`, { method: "POST", headers });
  return [res.status, await res.json()];
}

const createSubscription = (svc: TestServer, endpointUrl: string) =>
  svc.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl });

test("an event is received and delivered, and the metrics count it", async () => {
  const svc = await start();
  const endpoint = await startEndpoint();
  expect((await createSubscription(svc, endpoint.url)).code).toBe("ok");
  expect(await post(svc)).toEqual([202, { accepted: 1 }]);
  await expect.poll(() => endpoint.bodies).toHaveLength(1);
  expect(JSON.parse(endpoint.bodies[0]!)).toMatchObject({ type: "event", triggerSlug: "calendar.events_changed" });
  const metrics = async () => (await fetch(`${svc.url}/metrics`)).text();
  await expect.poll(metrics).toContain('svc_delivery_attempts_total{state="delivered"} 1');
  const text = await metrics();
  expect(text).toContain("svc_delivery_latency_seconds_count 1");
  expect(text).toContain('svc_ingest_posts_total{toolkit="calendar",outcome="accepted"} 1');
});

test("an api node stores, a worker node delivers, and the worker takes neither calls nor posts", async () => {
  const api = await start({ SVC_ROLE: "api", SVC_VAULT_KEY: vaultKey });
  const endpoint = await startEndpoint();
  await createSubscription(api, endpoint.url);
  expect(await post(api)).toEqual([202, { accepted: 1 }]);
  const metrics = await (await fetch(`${api.url}/metrics`)).text();
  expect(metrics).toContain("svc_delivery_backlog 1");
  expect(endpoint.bodies).toEqual([]);
  const worker = await start({ SVC_ROLE: "worker", SVC_DATABASE_URL: api.database.url, SVC_VAULT_KEY: vaultKey });
  expect((await fetch(`${worker.url}/readyz`)).status).toBe(200);
  expect(await worker.call("svc.v1.TriggersService/ListEvents")).toMatchObject({ status: 404, reason: "CALL_UNKNOWN" });
  expect((await fetch(`${worker.url}/webhooks/calendar`, { method: "POST" })).status).toBe(404);
  const health = await worker.call("grpc.health.v1.Health/Check", { service: "svc.v1.TriggersService" });
  expect(health.code).toBe("not_found");
  await expect.poll(() => endpoint.bodies, { timeout: 5_000 }).toHaveLength(1);
});

test("an endpoint on loopback is allowed while the service itself listens there only", async () => {
  const endpoint = "http://127.0.0.1:9/";
  expect((await createSubscription(await start(), endpoint)).code).toBe("ok");
  const open = await start({ SVC_HOST: "0.0.0.0" });
  expect(await createSubscription(open, endpoint)).toMatchObject({ status: 400, reason: "ENDPOINT_ADDRESS_REFUSED" });
  const proxied = await start({ SVC_PUBLIC_URL: "https://svc.example.com" });
  expect(await createSubscription(proxied, endpoint)).toMatchObject({ reason: "ENDPOINT_ADDRESS_REFUSED" });
  const allowed = await start({ SVC_HOST: "0.0.0.0", SVC_ENDPOINT_CIDRS: "127.0.0.0/8" });
  expect((await createSubscription(allowed, endpoint)).code).toBe("ok");
});

test("nodes that start at once on one database agree on the bootstrap key, and a revoked one stays revoked", async () => {
  const first = await start();
  const variables = {
    SVC_DATABASE_URL: first.database.url,
    SVC_BOOTSTRAP_KEY: "a-second-bootstrap-key-that-two-nodes-set",
  };
  const nodes = await Promise.all([start(variables), start(variables)]);
  const bearer = variables.SVC_BOOTSTRAP_KEY;
  const list = (node: TestServer) => node.call("svc.v1.TriggersService/ListEvents", {}, { bearer });
  for (const node of nodes) expect((await list(node)).code).toBe("ok");
  const [project] = (await first.admin("ListProjects")).json.projects;
  const keys = (await first.admin("ListApiKeys", { projectId: project.id })).json.apiKeys;
  expect(keys).toHaveLength(2);
  expect(keys[0]).toMatchObject({ name: "SVC_BOOTSTRAP_KEY", role: "ROLE_APPROVER", hint: "" });
  await first.admin("RevokeApiKey", { id: keys[0].id });
  expect((await list(await start(variables))).reason).toBe("API_KEY_INVALID");
});

test("a service that cannot listen closes everything that it opened", async () => {
  const first = await start();
  const port = new URL(first.url).port;
  await expect(startTestServer({ variables: { SVC_PORT: port } })).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
});

const vaultKey = `k1:${Buffer.alloc(32, 1).toString("base64")}`;
