import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { runTestCommand } from "@svc/cli/test-command";
import { createSvcClient, verifyDelivery } from "@svc/sdk";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import {
  adminToken,
  bootstrapKey,
  calendarSecret,
  freePort,
  type ServerProcess,
  startServerProcess,
  until,
  vaultKey,
} from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { type Subscriber, startSubscriber } from "@svc/testing/subscriber";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";

const main = await bundled(fileURLToPath(new URL("../packages/cli/src/main.ts", import.meta.url)));

const vault = vaultKey();
let database: TestDatabase;
let server: ServerProcess;
let target: Subscriber;
const running: SvcProcess[] = [];

// Long timeout, because each test starts several processes with half a second of work each.
vi.setConfig({ testTimeout: 90_000 });

beforeAll(async () => {
  database = await createTestDatabase();
  target = await startSubscriber();
  server = await startServerProcess({
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vault,
    SVC_RETRY_SCHEDULE: "100ms,100ms,100ms",
    SVC_TOOLKITS: fewToolkits,
  });
});

afterEach(async () => {
  target.received.length = 0;
  target.answer = (_, res) => res.writeHead(204).end();
  for (const { child, exitCode } of running.splice(0)) {
    child.kill("SIGTERM");
    await exitCode;
  }
});

afterAll(async () => {
  await server.end("SIGTERM");
  await target.close();
  await database.drop();
});

type SvcProcess = { child: ChildProcess; exitCode: Promise<number | null>; stdout: string; stderr: string };

/** Returns the environment variables of a shell on the server's machine. */
const shellVariables = () => ({
  SVC_URL: server.url,
  SVC_API_KEY: bootstrapKey,
  SVC_ADMIN_TOKEN: adminToken,
  SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret,
  SVC_TOOLKITS: fewToolkits,
});

/** Starts the command line as a user does, but from its bundle. */
function startSvc(args: string[], variables: Record<string, string> = {}): SvcProcess {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...compileCache, PATH: process.env["PATH"] ?? "", ...shellVariables(), ...variables },
  });
  const started: SvcProcess = { child, exitCode: once(child, "close").then(([code]) => code), stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    started.stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    started.stderr += chunk.toString();
  });
  running.push(started);
  return started;
}

/** Names of commands that have run as processes. */
const inProcesses = new Set<string>();

/**
 * Runs a command to its end. The first command of each name runs as a process, the others in this process, because starting a process takes
 * half a second.
 */
async function svc(args: string[], variables?: Record<string, string>) {
  const [name = ""] = args;
  if (inProcesses.has(name)) {
    const { code, printed, noted } = await runTestCommand(args, { ...shellVariables(), ...variables });
    return { code, stdout: printed.join("\n").trim(), stderr: noted.join("\n").trim() };
  }
  inProcesses.add(name);
  const started = startSvc(args, variables);
  const code = await started.exitCode;
  return { code, stdout: started.stdout.trim(), stderr: started.stderr.trim() };
}

async function startListening(...options: string[]): Promise<SvcProcess> {
  const started = startSvc(["listen", ...options]);
  await until(() => started.stderr.includes("Listening"), 30_000, `svc listen: ${started.stderr}`);
  return started;
}

async function subscriptions() {
  const client = createSvcClient({ baseUrl: server.url, apiKey: bootstrapKey });
  return (await client.triggers.listSubscriptions({})).subscriptions;
}

test("an administrator creates a project and a key that works in it until it is revoked", async () => {
  const project = await svc(["projects", "create", "billing"]);
  expect(project).toMatchObject({ code: 0, stdout: expect.stringMatching(/^prj_\w+$/) });
  expect((await svc(["projects", "list"])).stdout).toContain(project.stdout);
  const key = await svc(["keys", "create", "--project", "billing", "--expires-in", "1d"]);
  expect(key).toMatchObject({ code: 0, stdout: expect.stringMatching(/^svc_\w+$/) });
  expect(await svc(["events", "--api-key", key.stdout])).toMatchObject({ code: 0, stderr: "" });
  const id = /key_\w+/.exec(key.stderr)?.[0] ?? "";
  expect((await svc(["keys", "list", "--project", "billing"])).stdout).toMatch(
    new RegExp(`^${id}  member  .*until `, "m"),
  );
  expect(await svc(["keys", "revoke", id])).toMatchObject({ code: 0 });
  expect(await svc(["events", "--api-key", key.stdout])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^svc: the API key is unknown, expired or revoked \(API_KEY_INVALID\)\. [^\n]+$/),
  });
});

test("a triggered event is listened to, forwarded as it was signed, listed and replayed; Ctrl-C removes the subscription", async () => {
  const listening = await startListening("--forward", target.url, "--toolkit", "calendar");
  const [subscription] = await subscriptions();
  expect(subscription).toMatchObject({ toolkitSlug: "calendar", active: true });

  const triggered = await svc(["trigger", "calendar"]);
  // One event for each of the two projects that exist since the test before.
  expect(triggered).toEqual({ code: 0, stdout: "202 stored (calendar.events_changed)", stderr: "" });
  await until(() => listening.stdout.includes("-> 204"), 30_000, "the forwarded event");
  const eventId = /evt_\w+/.exec(listening.stdout)?.[0] ?? "";
  expect(target.received).toMatchObject([{ headers: { "x-svc-signature": expect.stringMatching(/^sha256=/) } }]);
  expect(JSON.parse(target.received[0]?.body ?? "")).toMatchObject({ id: eventId, type: "event" });

  expect((await svc(["events", "--limit", "1"])).stdout).toContain(`${eventId}  calendar.events_changed`);
  expect((await svc(["replay", eventId])).stdout).toMatch(/^dlv_\w+ {2}sub_\w+ /m);
  await until(() => target.received.length === 2, 30_000, "the replayed event");
  expect((await svc(["deliveries", "--event", eventId])).stdout.match(/ delivered {2,}1 /g)).toHaveLength(2);

  listening.child.kill("SIGINT");
  expect(await listening.exitCode).toBe(0);
  expect(listening.stderr).toContain("the subscription was removed");
  expect(await subscriptions()).toEqual([]);
});

test("svc hears the status of a forward, so that a delivery that failed is tried again", async () => {
  let answers = 0;
  target.answer = (_, res) => res.writeHead(++answers === 1 ? 500 : 200).end();
  const listening = await startListening("--forward", target.url);
  await svc(["trigger", "calendar"]);
  await until(() => listening.stdout.includes("-> 200"), 30_000, "the second attempt");
  expect(listening.stdout).toMatch(/-> 500 in \d+ ms\n.*-> 200 in \d+ ms\n$/);
  const [first, second] = target.received;
  expect(second?.deliveryId).toBe(first?.deliveryId);
});

test("SIGTERM while a forward is in flight removes the subscription and ends with 0", async () => {
  const held = Promise.withResolvers<() => void>();
  target.answer = (_, res) => held.resolve(() => res.writeHead(200).end());
  const listening = await startListening("--forward", target.url);
  await svc(["trigger", "calendar"]);
  const release = await held.promise;
  listening.child.kill("SIGTERM");
  await until(async () => (await subscriptions()).length === 0, 30_000, "the subscription's end");
  release();
  expect(await listening.exitCode).toBe(0);
});

test("a forwarded delivery verifies with the client, under the secret that only its subscriber knows", async () => {
  const client = createSvcClient({ baseUrl: server.url, apiKey: bootstrapKey });
  const { subscription, signingSecret } = await client.triggers.createSubscription({ endpointUrl: target.url });
  await client.triggers.sendTestEvent({ subscriptionId: subscription?.id ?? "" });
  await until(() => target.received.length === 1, 30_000, "the test event");
  const [{ headers, body, deliveryId } = { headers: {}, body: "", deliveryId: "" }] = target.received;
  expect(await verifyDelivery(headers, body, signingSecret)).toMatchObject({ type: "test", deliveryId, payload: {} });
  await client.triggers.deleteSubscription({ id: subscription?.id ?? "" });
});

test("what is wrong is one line on standard error: a wrong secret and a service that is away end with 1, wrong arguments with 2", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const [wrong, misused, ...away] = await Promise.all([
    svc(["trigger", "calendar", "--secret", "another"]),
    svc(["trigger"]),
    ...[["listen"], ["trigger", "calendar"]].map((args) => svc(args, { SVC_URL: url })),
  ]);
  const refused = /^svc: the service refused with 401: [^\n]+$/;
  expect(wrong).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(refused) });
  expect(misused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^error: missing required/) });
  const unreachable = {
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^svc: cannot reach [^\n]+ECONNREFUSED[^\n]+$/),
  };
  expect(away).toEqual([unreachable, unreachable]);
});

test("a service without the toolkit's secret refuses, and the command says how to set it", async () => {
  const variables = {
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vault,
    SVC_WEBHOOK_SECRET_CALENDAR: "",
    SVC_TOOLKITS: fewToolkits,
  };
  const other = await startServerProcess(variables);
  try {
    const { code, stderr } = await svc(["trigger", "calendar", "--url", other.url]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^svc: the service refused with 403: .+ Set SVC_WEBHOOK_SECRET_CALENDAR for the service/);
  } finally {
    await other.end("SIGTERM");
  }
});
