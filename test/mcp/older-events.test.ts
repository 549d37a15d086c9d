import { randomBytes } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { calendarSecret, postCalendar } from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { until } from "@svc/testing/until";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";

// Events over MCP for clients of the older revisions, whose connection begins with `initialize`.

const name = "calendar.events_changed";
const secret = `whsec_${randomBytes(32).toString("base64")}`;
let server: TestServer;
let callback: TestReceiver;
beforeAll(async () => {
  server = await startTestServer({
    variables: { SVC_TOOLKITS: fewToolkits, SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret },
  });
  callback = await startTestReceiver();
  callback.script((_req, res) => {
    const { type, challenge } = JSON.parse(callback.requests.at(-1)?.body.toString() ?? "{}");
    res.writeHead(200).end(type === "verification" ? JSON.stringify({ challenge }) : "");
  });
});
afterAll(async () => {
  await callback?.[Symbol.asyncDispose]();
  await server?.stop();
});

/** Sends one MCP request over a connection that began with `initialize`. */
type Ask = (method: string, params?: Record<string, unknown>) => Promise<Record<string, unknown>>;

const address = () => new URL(`${server.url}/mcp`);
const requestInit = () => ({ headers: { Authorization: `Bearer ${server.key}` } });

/** Returns the clients that begin with `initialize`: the first version of the protocol's SDK, and the present one. */
const clients: readonly [string, () => Promise<Ask>][] = [
  [
    "the SDK's first version",
    async () => {
      const client = new FormerClient({ name: "my-agent", version: "1.0.0" });
      const transport = new FormerTransport(address(), { requestInit: requestInit() });
      // The cast is needed, because types of the library contradict each other under exactOptionalPropertyTypes.
      await client.connect(transport as unknown as Parameters<FormerClient["connect"]>[0]);
      return (method, params = {}) => client.request({ method, params } as never, ResultSchema);
    },
  ],
  [
    "the present SDK with a handshake",
    async () => {
      const client = new Client({ name: "my-agent", version: "1.0.0" });
      await client.connect(new StreamableHTTPClientTransport(address(), { requestInit: requestInit() }));
      expect(client.getProtocolEra()).toBe("legacy");
      return (method, params = {}) => client.request({ method, params }, ResultSchema);
    },
  ],
];

test.each(clients)(
  "%s lists events, polls, subscribes, receives deliveries and unsubscribes",
  async (_name, connect) => {
    server.logs.length = 0;
    callback.requests.length = 0;
    const ask = await connect();
    const { events } = await ask("events/list");
    expect(events).toContainEqual(expect.objectContaining({ name, delivery: ["webhook", "poll"] }));
    const { cursor } = await ask("events/poll", { name });

    const delivery = { mode: "webhook", url: callback.url, secret };
    const subscribed = await ask("events/subscribe", { name, delivery });
    expect(subscribed).toMatchObject({ id: expect.stringMatching(/^mcp_/), refreshBefore: expect.any(String) });
    const message = Number.parseInt(randomBytes(3).toString("hex"), 16);
    expect(await postCalendar(server, "ada", message)).toBe(202);
    const posted = () => callback.requests.filter(({ body }) => JSON.parse(body.toString()).type !== "verification");
    await until(() => posted().length === 1);
    const [request] = posted();
    const delivered = JSON.parse(request?.body.toString() ?? "");
    new Webhook(secret).verify(request?.body.toString() ?? "", request?.headers as Record<string, string>);
    expect(request?.headers["x-mcp-subscription-id"]).toBe(subscribed["id"]);

    const polled = await ask("events/poll", { name, cursor });
    expect(polled["events"]).toEqual([expect.objectContaining({ eventId: delivered.eventId, data: delivered.data })]);
    await ask("events/unsubscribe", { name, delivery: { url: callback.url } });
    const { subscriptions } = (await server.call("svc.v1.TriggersService/ListSubscriptions")).json;
    expect(subscriptions).toEqual([]);
    expect(server.logs.some((line) => JSON.parse(line).method === "mcp/initialize")).toBe(true);
  },
);
