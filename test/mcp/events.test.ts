import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import {
  createMCPClient,
  type Experimental_MCPEvent,
  type Experimental_MCPEventStore,
  type Experimental_MCPEventSubscription,
  experimental_createMCPEventWebhook,
} from "@ai-sdk/mcp";
import { createTestDatabase } from "@svc/testing/database";
import { endLeases } from "@svc/testing/leases";
import {
  bootstrapKey,
  call,
  freePort,
  postCalendar,
  type ServerProcess,
  startServerProcess,
  vaultKey,
} from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

// The AI SDK's client, with its store and its webhook, against a service that is killed, as in docs/reference/mcp/events.md.

const name = "calendar.events_changed";
const database = await createTestDatabase();
let server: ServerProcess;
let callback: Callback;
let env: Record<string, string>;

beforeAll(async () => {
  callback = await startCallback();
  env = {
    SVC_TOOLKITS: fewToolkits,
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_PORT: String(await freePort()),
    SVC_RETRY_SCHEDULE: "1s,1s,1s,1s,1s,1s,1s,1s,1s",
  };
  server = await startServerProcess(env);
}, 120_000);
afterAll(async () => {
  await server?.end("SIGKILL");
  callback?.server.closeAllConnections();
  callback?.server.close();
  await database.drop();
});

/** Creates the client's store, in memory. */
function createStore(): Experimental_MCPEventStore {
  const rows = new Map<string, Experimental_MCPEventSubscription>();
  return {
    get: async (key) => rows.get(key),
    getById: async (id) => [...rows.values()].find((row) => row.id === id),
    set: async (row) => void rows.set(row.key, row),
    async update(key, patch) {
      const row = rows.get(key);
      if (row !== undefined) rows.set(key, { ...row, ...patch });
    },
    delete: async (key) => void rows.delete(key),
  };
}

type Callback = {
  readonly url: string;
  readonly server: Server;
  readonly store: Experimental_MCPEventStore;
  readonly events: Experimental_MCPEvent[];
  readonly terminated: unknown[];
  /** Status that is answered in place of the webhook's own answer. */
  status: number | undefined;
};

/** Starts the client's webhook as an HTTP server. */
async function startCallback(): Promise<Callback> {
  const store = createStore();
  const [events, terminated]: [Experimental_MCPEvent[], unknown[]] = [[], []];
  const handle = experimental_createMCPEventWebhook({
    store,
    onEvent: async ({ event }) => void events.push(event),
    onTerminated: async ({ termination }) => void terminated.push(termination),
  });
  const made = createServer(async (req, res) => {
    const body = await buffer(req);
    const headers = Object.entries(req.headers).map(([key, value]): [string, string] => [key, String(value)]);
    const answer = await handle(new Request(`http://127.0.0.1${req.url}`, { method: "POST", headers, body }));
    res.writeHead(callbackOf.status ?? answer.status, Object.fromEntries(answer.headers));
    res.end(Buffer.from(await answer.arrayBuffer()));
  });
  made.listen(0, "127.0.0.1");
  await once(made, "listening");
  const url = `http://127.0.0.1:${(made.address() as AddressInfo).port}/hook`;
  const callbackOf: Callback = { url, server: made, store, events, terminated, status: undefined };
  return callbackOf;
}

const connect = (key = bootstrapKey) =>
  createMCPClient({
    transport: { type: "http", url: `${server.url}/mcp`, headers: { Authorization: `Bearer ${key}` } },
    experimental_events: { store: callback.store },
  });

const listed = async () => {
  const { events } = await call<{ events: { id: string; payloadJson: string }[] }>(
    server,
    "TriggersService/ListEvents",
    {
      triggerSlug: name,
    },
  );
  return events.reverse();
};

/** Polls for events, for which the client has no method. */
async function poll(params: object) {
  const response = await fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${bootstrapKey}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "events/poll", params: { name, ...params } }),
  });
  return ((await response.json()) as { result: { events: { eventId: string; data: unknown }[]; cursor: string } })
    .result;
}

test("the AI SDK's client lists, subscribes, is delivered over a kill -9, replays from its cursor, refreshes and ends", async () => {
  const client = await connect();
  const { events } = await client.experimental_events.list();
  expect(events.find((event) => event.name === name)?.delivery).toEqual(["webhook", "poll"]);
  const start = (await poll({})).cursor;
  const delivery = { mode: "webhook" as const, url: callback.url, allowInsecureLocalhost: true };
  const subscribed = await client.experimental_events.subscribe({ name, delivery });
  expect(await postCalendar(server, "ada", 1)).toBe(202);
  await until(() => callback.events.length === 1);

  // The event is accepted, and not yet delivered when the service is killed.
  callback.status = 503;
  expect(await postCalendar(server, "ada", 2)).toBe(202);
  await server.end("SIGKILL");
  callback.status = undefined;
  await endLeases(database.url, "delivery_tasks");
  server = await startServerProcess(env);
  const expected = await listed();
  expect(expected).toHaveLength(2);
  const arrived = () => new Set(callback.events.map(({ eventId }) => eventId));
  await until(() => arrived().size === 2);
  expect([...arrived()].sort()).toEqual(expected.map(({ id }) => id).sort());

  // A cursor from before the kill replays the events that ListEvents lists.
  const replayed = await poll({ cursor: start });
  expect(replayed.events.map(({ eventId, data }) => [eventId, data])).toEqual(
    expected.map(({ id, payloadJson }) => [id, JSON.parse(payloadJson)]),
  );

  const later = await connect();
  const refreshed = await later.experimental_events.refresh({ id: subscribed.id });
  expect(refreshed.id).toBe(subscribed.id);
  await later.experimental_events.unsubscribe({ id: subscribed.id });
  const { subscriptions } = await call<{ subscriptions: unknown[] }>(server, "TriggersService/ListSubscriptions", {});
  expect(subscriptions).toEqual([]);
}, 240_000);

test("the recipe of docs/guides/tools/subscribe-to-events-over-mcp.md works as it is pasted", async () => {
  const page = await readFile(
    join(import.meta.dirname, "../../docs/guides/tools/subscribe-to-events-over-mcp.md"),
    "utf8",
  );
  const [, recipe = ""] = /```js\n(import \{ createServer \}[^`]*(?:`[^`]+`[^`]*)*?)\n```/.exec(page) ?? [];
  expect(recipe).toContain("experimental_events.subscribe");
  const callbackPort = await freePort();
  const code = recipe.replaceAll("8080", String(server.port)).replaceAll("4000", String(callbackPort));
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    cwd: join(import.meta.dirname, "../.."),
    env: { PATH: process.env["PATH"], SVC_API_KEY: bootstrapKey },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  try {
    await until(() => said.includes("subscribed until"), "the recipe's subscription", 60_000);
    expect(await postCalendar(server, "ada", 3)).toBe(202);
    await until(() => said.includes(`${name} evt_`), "the recipe's event");
  } finally {
    child.kill();
    await once(child, "exit");
  }
  expect(said).not.toContain("Error");
}, 120_000);
